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

    /// The same text in UTF-8, in a file without a name.
    ///
    /// - Parameter directory: where that is.
    func converted(_ file: SpooledFile, into directory: String) throws -> SpooledFile {
        guard let converter = EncodingConverter(name) else { throw ToolFailure("there is no encoding \(name)") }
        let copy = try GrowingFile(in: directory, for: "the audience")
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        // What begins a character stays for the next time, at the chunk's beginning.
        var (position, kept, line) = (0, 0, 1)
        while true {
            let count = try file.read(into: &chunk, at: kept, count: chunk.count - kept, from: position)
            position += count
            let bytes = Array(chunk[..<(kept + count)])
            if bytes.isEmpty { return try copy.finished() }
            var text: [UInt8] = []
            let rest = converter.convert(bytes, into: &text)
            line += text.count { $0 == UInt8(ascii: "\n") }
            guard let rest, rest == 0 || count > 0 else {
                throw ToolFailure("the audience is not \(name): line \(line) has bytes that are no character of it")
            }
            try copy.append(text)
            chunk.replaceSubrange(0..<rest, with: bytes.suffix(rest))
            kept = rest
        }
    }
}
