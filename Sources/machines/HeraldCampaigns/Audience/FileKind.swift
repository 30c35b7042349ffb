internal import HeraldTools

/// Files that are no text, recognised by how they begin: people take them for an audience.
enum FileKind {
    private static let kinds: [(beginning: [UInt8], advice: String)] = [
        ([0x50, 0x4B, 0x03, 0x04], "is an Excel workbook (xlsx) or another ZIP archive; save its sheet as CSV UTF-8"),
        ([0xD0, 0xCF, 0x11, 0xE0], "is an old Excel workbook (xls); save its sheet as CSV UTF-8"),
        ([0x1F, 0x8B], "is compressed with gzip; unpack it: gunzip FILE.gz"),
        ([0x28, 0xB5, 0x2F, 0xFD], "is compressed with zstd; unpack it: unzstd FILE.zst"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "is compressed with xz; unpack it: unxz FILE.xz"),
        ([0x42, 0x5A, 0x68], "is compressed with bzip2; unpack it: bunzip2 FILE.bz2"),
        ([0x25, 0x50, 0x44, 0x46, 0x2D], "is a PDF; it has to be CSV or JSON lines"),
    ]

    /// Whether text that begins so is JSON lines, whatever its name says: no column is called so.
    static func isJSON(_ beginning: some Collection<UInt8>) -> Bool {
        let spaces: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
        let text = beginning.drop { spaces.contains($0) }
        guard text.first == UInt8(ascii: "{") else { return false }
        return text.dropFirst().first { !spaces.contains($0) } == UInt8(ascii: "\"")
    }

    /// The encoding that a byte order mark at the beginning says, other than UTF-8: Excel's “Unicode text” has one.
    static func markedEncoding(_ beginning: some Collection<UInt8>) -> AudienceEncoding? {
        guard beginning.starts(with: [0xFF, 0xFE]) || beginning.starts(with: [0xFE, 0xFF]) else { return nil }
        return AudienceEncoding("UTF-16")
    }

    /// Whether text that begins so has two bytes for each character: in UTF-16 every other byte of plain text is 0.
    static func isWide(_ beginning: some Collection<UInt8>) -> Bool {
        beginning.count > 3 && beginning.prefix(2).contains(0)
    }

    /// How many bytes of a file are looked at.
    static let byteCount = 512

    /// Refuses a file that begins so.
    static func check(_ beginning: [UInt8]) throws(ToolFailure) {
        for kind in kinds where beginning.starts(with: kind.beginning) {
            throw ToolFailure("the audience \(kind.advice)")
        }
        if beginning.starts(with: [0x5B, 0x7B]) || beginning.starts(with: [0x5B, 0x0A]) {
            throw ToolFailure("the audience is a JSON array; write one object a line: jq -c '.[]' FILE > users.jsonl")
        }
    }
}
