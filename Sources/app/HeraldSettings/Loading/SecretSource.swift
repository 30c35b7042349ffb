package import HeraldText
internal import HeraldThreads

/// The source of a secret: the settings themselves, or a file that may change while the program runs.
package enum SecretSource: Sendable, Hashable {
    case literal(Secret)
    case file(String)

    /// The maximum size of a secret; a longer file is the wrong one.
    private static let longestFile = 65_535

    /// The current secret: a file is read each time, without line feeds at its end.
    package func current() throws(InputError) -> Secret {
        switch self {
        case .literal(let secret): return secret
        case .file(let path): return try Self.read(path)
        }
    }

    private static func read(_ path: String) throws(InputError) -> Secret {
        guard !FileAccess(ofOthersTo: path).isWritable else {
            throw refused(path, "can be written by everybody on this machine: chmod o-w")
        }
        var bytes: [UInt8]
        do throws(InputError) {
            bytes = try BoundedFile.read(path, limit: longestFile)
        } catch {
            throw refused(path, error.message)
        }
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw refused(path, "is empty") }
        guard let text = String(validating: bytes, as: UTF8.self), TextRule.line(longestFile).accepts(text) else {
            throw refused(path, "is not one line of UTF-8 text")
        }
        return Secret(text)
    }

    private static func refused(_ path: String, _ reason: String) -> InputError {
        InputError("\(SafeText.quoted(path, limit: 200)) \(reason)")
    }
}
