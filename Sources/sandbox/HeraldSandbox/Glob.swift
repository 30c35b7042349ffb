/// A pattern in which `*` stands for any run of characters, also none; everything else stands for itself.
struct Glob: Sendable, Equatable {
    let pattern: String
    private let pieces: [[UInt8]]

    init(_ pattern: String) {
        self.pattern = pattern
        pieces = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map { Array($0) }
    }

    func matches(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let first = pieces.first, let last = pieces.last, pieces.count > 1 else {
            return pieces.first == bytes
        }
        guard bytes.count >= first.count + last.count, bytes.starts(with: first),
            bytes.reversed().starts(with: last.reversed())
        else { return false }
        var rest = bytes[first.count..<(bytes.count - last.count)]
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let start = rest.indices.first(where: { rest[$0...].starts(with: piece) }) else { return false }
            rest = rest[(start + piece.count)...]
        }
        return true
    }
}
