internal import HeraldBytes
package import HeraldTools

/// The file with a campaign's recipients, which is read twice: for the preview, and for the publishing.
package final class Audience: Sendable {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    nonisolated(unsafe) let file: SpooledFile
    package let format: AudienceFormat
    /// How many bytes come before the first record.
    let prefixCount: Int

    /// Opens a file, or takes standard input for `-`.
    ///
    /// - Parameters:
    ///   - format: `nil` for what its name says, or its first byte: an object's brace begins JSON lines.
    ///   - directory: where a copy of what can be read only once goes.
    package convenience init(path: String, format: AudienceFormat?, copyingInto directory: String) throws {
        try self.init(try SpooledFile(path: path, copyingInto: directory), name: path, format: format)
    }

    /// An audience that was spooled already.
    ///
    /// - Parameters:
    ///   - name: what its file is called.
    ///   - format: `nil` for what its name says, or its first byte.
    package init(_ file: SpooledFile, name: String, format: AudienceFormat? = nil) throws {
        nonisolated(unsafe) let file = file
        self.file = file
        var first = [UInt8](repeating: 0, count: 4)
        let count = try file.read(into: &first, at: 0, count: first.count, from: 0)
        guard !first.starts(with: [0xFF, 0xFE]), !first.starts(with: [0xFE, 0xFF]) else {
            throw ToolFailure("the audience is UTF-16; save it as UTF-8")
        }
        prefixCount = first.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
        let isObject = prefixCount < count && first[prefixCount] == UInt8(ascii: "{")
        self.format = format ?? AudienceFormat(path: name) ?? (isObject ? .jsonl : .csv)
    }

    /// How many bytes it has.
    package var byteCount: Int { file.byteCount }

    /// Whether the path names the audience itself.
    package func isSameFile(as path: String) -> Bool { file.isSameFile(as: path) }

    /// Whether nobody has changed it since it was opened.
    package var isUnchanged: Bool { file.isUnchanged }
}
