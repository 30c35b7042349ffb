internal import HeraldBytes
internal import HeraldTools

/// The part of a file that is looked at: it moves on towards the end, and grows when one record does not fit.
struct ByteWindow {
    private static let readBytes = 262_144

    /// Where in the window the next record begins.
    var start = 0
    /// What was read; behind ``count`` is room.
    private(set) var bytes: [UInt8]
    /// How many bytes there are.
    private(set) var count = 0
    private var position = 0
    private let file: SpooledFile

    init(_ file: SpooledFile) {
        self.file = file
        bytes = [UInt8](repeating: 0, count: min(Self.readBytes, max(1, file.byteCount)))
    }

    /// Whether nothing comes behind the window.
    var isAtEnd: Bool { position == file.byteCount }

    /// How many bytes of the file lie before ``start``.
    var passedCount: Int { position - count + start }

    /// How many bytes of the present record are in the window.
    var recordCount: Int { count - start }

    /// The present record's line, without its end, and where the next one begins; `nil` when that has to be read first.
    var line: (range: Range<Int>, next: Int)? {
        let read = bytes.span.bytes.extracting(0..<count)
        let end = LineEnd.first(in: read, from: start)
        return LineEnd.passed(at: end, in: read, isEnd: isAtEnd).map { (start..<end, $0) }
    }

    /// Reads on; the present record stays, at the window's beginning.
    mutating func extend() throws {
        if start > 0 {
            for index in start..<count { bytes[index - start] = bytes[index] }
            count -= start
            start = 0
        }
        if bytes.count == count { bytes.append(contentsOf: repeatElement(0, count: Self.readBytes)) }
        let got = try file.read(into: &bytes, at: count, count: bytes.count - count, from: position)
        count += got
        position += got
    }

    /// Passes over everything up to and with the next line's end, however far that is.
    mutating func skipLine() throws {
        while true {
            if let line {
                start = line.next
                return
            }
            // The last byte may be the first half of the line's end.
            start = max(start, count - 1)
            try extend()
        }
    }
}
