internal import HeraldTools

/// The encoding that an audience is said to be in, one that the C library knows.
package struct AudienceEncoding: Sendable, Equatable {
    private static let chunkBytes = 65_536

    package let name: String

    /// The encoding of this name; `nil` when there is none.
    package init?(_ name: String) {
        guard EncodingConverter(name) != nil else { return nil }
        self.name = name
    }

    /// Whether it is UTF-8, by whatever name.
    var isUTF8: Bool { name.lowercased().filter { $0 != "-" && $0 != "_" } == "utf8" }

    /// The same text in UTF-8, in a file without a name.
    ///
    /// - Parameter directory: where that is.
    func converted(_ file: SpooledFile, into directory: String) throws -> SpooledFile {
        let copy = try GrowingFile(in: directory, for: "the audience")
        if let line = try firstWrongLine(of: file, onText: { try copy.append($0) }) {
            throw ToolFailure("the audience is not \(name): line \(line) has bytes that are no character of it")
        }
        return try copy.finished()
    }

    /// Whether all of a file is text in UTF-8.
    static func isUTF8(_ file: SpooledFile) throws -> Bool {
        try AudienceEncoding("UTF-8").map { try $0.firstWrongLine(of: file) { _ in } == nil } ?? false
    }

    /// The number of the first line that is not in it, from 1; `nil` when all is.
    ///
    /// - Parameter onText: called with the text in UTF-8, piece by piece.
    private func firstWrongLine(of file: SpooledFile, onText: ([UInt8]) throws -> Void) throws -> Int? {
        guard let converter = EncodingConverter(name) else { throw ToolFailure("there is no encoding \(name)") }
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        // What begins a character stays for the next time, at the chunk's beginning.
        var (position, kept, line) = (0, 0, 1)
        while true {
            let count = try file.read(into: &chunk, at: kept, count: chunk.count - kept, from: position)
            position += count
            let bytes = Array(chunk[..<(kept + count)])
            if bytes.isEmpty { return nil }
            var text: [UInt8] = []
            let rest = converter.convert(bytes, into: &text)
            line += text.count { $0 == UInt8(ascii: "\n") }
            guard let rest, rest == 0 || count > 0 else { return line }
            try onText(text)
            chunk.replaceSubrange(0..<rest, with: bytes.suffix(rest))
            kept = rest
        }
    }
}
