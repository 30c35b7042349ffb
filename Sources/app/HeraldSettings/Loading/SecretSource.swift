package import HeraldText

/// Where a secret comes from: the settings themselves, or a file that may change while the program runs.
package enum SecretSource: Sendable, Equatable {
    /// Written in the settings.
    case literal(Secret)
    /// In the file at that path.
    case file(String)

    /// A secret longer than this is no secret but a wrong file.
    private static let longestFile = 65_536

    /// Why a secret's file gives none.
    package struct Unreadable: Error, Equatable, CustomStringConvertible {
        /// The file.
        package let path: String
        /// Why.
        package let reason: String

        /// Path and reason in one line.
        package var description: String { "\(SafeText.quoted(path, limit: 200)) \(reason)" }
    }

    /// The secret as it is now: a file is read anew each time, and line feeds at its end are dropped.
    package func current() throws(Unreadable) -> Secret {
        switch self {
        case .literal(let secret): return secret
        case .file(let path): return try Self.read(path)
        }
    }

    private static func read(_ path: String) throws(Unreadable) -> Secret {
        var bytes: [UInt8]
        do throws(BoundedFile.Failure) {
            bytes = try BoundedFile.read(path, limit: longestFile)
        } catch {
            throw Unreadable(path: path, reason: error.reason)
        }
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw Unreadable(path: path, reason: "is empty") }
        guard let text = String(validating: bytes, as: UTF8.self), TextRule.line(longestFile).accepts(text) else {
            throw Unreadable(path: path, reason: "is not one line of UTF-8 text")
        }
        return Secret(text)
    }
}
