internal import HeraldBytes
package import HeraldTools

/// The file with a campaign's recipients, which is read twice: for the preview, and for the publishing.
package final class Audience: Sendable {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Its text in UTF-8.
    let file: SpooledFile
    /// What it was read from: the same, unless it is in another encoding.
    private let source: SpooledFile
    package let format: AudienceFormat
    /// How it is said to be written.
    let form: AudienceForm
    /// What it was read in; `nil` for UTF-8.
    let encoding: AudienceEncoding?
    /// How many bytes come before the first record.
    let prefixCount: Int

    /// Opens a file, or takes standard input for `-`.
    ///
    /// - Parameter directory: where a copy of what can be read only once, or is in another encoding, goes.
    package convenience init(path: String, _ form: AudienceForm, copyingInto directory: String) throws {
        try self.init(
            try SpooledFile(path: path, copyingInto: directory), name: path, form, copyingInto: directory)
    }

    /// An audience that was spooled already.
    ///
    /// - Parameters:
    ///   - name: what its file is called.
    ///   - directory: where a copy of what is in another encoding goes.
    package init(_ source: SpooledFile, name: String, _ form: AudienceForm, copyingInto directory: String) throws {
        let encoding =
            try form.encoding ?? FileKind.markedEncoding(Self.beginning(of: source)) ?? Self.former(form, of: source)
        let file = try encoding?.converted(source, into: directory) ?? source
        self.source = source
        self.encoding = encoding.flatMap { $0.isUTF8 ? nil : $0 }
        self.file = file
        self.form = form
        let first = try Self.beginning(of: file)
        try FileKind.check(first)
        if FileKind.isWide(first) { throw UnreadableAudience(wide: first) }
        prefixCount = first.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
        let isJSON = FileKind.isJSON(first[prefixCount...])
        self.format = form.format ?? (isJSON ? .jsonl : AudienceFormat(path: name) ?? .csv)
    }

    /// The encoding of the campaign's last audience, where the file is not UTF-8 by now.
    private static func former(_ form: AudienceForm, of file: SpooledFile) throws -> AudienceEncoding? {
        guard let former = form.formerEncoding else { return nil }
        // Plain text in UTF-16 without a mark is UTF-8, too.
        return try !FileKind.isWide(beginning(of: file)) && AudienceEncoding.isUTF8(file) ? nil : former
    }

    private static func beginning(of file: SpooledFile) throws -> [UInt8] {
        var first = [UInt8](repeating: 0, count: FileKind.byteCount)
        let count = try file.read(into: &first, at: 0, count: first.count, from: 0)
        return Array(first.prefix(count))
    }

    /// How many bytes it has.
    package var byteCount: Int { file.byteCount }

    /// Whether the path names the audience itself.
    package func isSameFile(as path: String) -> Bool { source.isSameFile(as: path) }

    /// Whether the file is unchanged since it was opened.
    package var isUnchanged: Bool { source.isUnchanged }
}
