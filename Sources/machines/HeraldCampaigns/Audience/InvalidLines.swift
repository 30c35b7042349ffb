internal import Glibc
internal import HeraldEvents
internal import HeraldText
internal import HeraldTools

/// Writes the lines of an audience that are no recipients to a CSV file, which is made with the first of them, or keeps the
/// first of them: in the audience's columns, so that they can be mended and be an audience, with the reasons behind.
///
/// One thread.
package final class InvalidLines {
    private static let pieceBytes = 65_536

    /// `nil` when they are kept.
    private let path: String?
    private let keptCount: Int
    private var descriptor: Int32 = -1
    private var piece: [UInt8] = []
    private var delimiter = ","

    package private(set) var count = 0

    /// Nothing is written yet; what stands at the path is left alone until then.
    package init(path: String) {
        self.path = path
        keptCount = .max
    }

    /// Nothing is written; so many are kept, for people who do not have the settings.
    package init(keeping count: Int) {
        path = nil
        keptCount = count
    }

    /// A reason as these people read it: without what only settings can change.
    func words(_ reason: String) -> String { path == nil ? UserRule.plain(reason) : reason }

    /// CSV with those that were kept; nothing when there are none.
    package var kept: [UInt8] { path == nil ? piece : [] }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Takes the present line of a reader.
    func add(_ lines: AudienceReader, _ reason: String) throws {
        if count == 0 { try begin(lines) }
        count += 1
        guard count <= keptCount else { return }
        add(lines.ownCells + ["\(lines.line)", "\(lines.row)", reason])
        if path != nil, piece.count >= Self.pieceBytes { try write() }
    }

    private func add(_ cells: [String]) { piece += CSVText.line(cells, delimiter: delimiter).utf8 }

    private func begin(_ lines: AudienceReader) throws {
        // A spreadsheet that wrote the audience reads it without a question.
        if let own = lines.reading.delimiter { delimiter = String(UnicodeScalar(own.byte)) }
        piece += CSVText.byteOrderMark.utf8
        add(lines.ownColumns + AudienceHeader.invalid)
        guard let path else { return }
        // They are names and addresses of people.
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure() }
    }

    func finish() throws {
        guard descriptor >= 0 else { return }
        try write()
        defer { descriptor = -1 }
        guard close(descriptor) == 0 else { throw failure() }
    }

    private func write() throws {
        var rest = piece[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw failure() }
            rest = rest.dropFirst(written)
        }
        piece.removeAll(keepingCapacity: true)
    }

    private func failure() -> ToolFailure {
        ToolFailure("cannot write the invalid lines to \(path ?? ""): \(String(cString: strerror(errno)))")
    }
}
