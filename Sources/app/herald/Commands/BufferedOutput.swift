import HeraldCommandLine

/// Buffers text for standard output, because a million single writes take long.
struct BufferedOutput {
    private static let pieceBytes = 65_536

    private let stream: Console.Stream
    private var text = ""
    private(set) var failure: (any Error)?

    init(_ stream: Console.Stream) {
        self.stream = stream
    }

    mutating func write(_ more: String) {
        text += more
        if text.utf8.count >= Self.pieceBytes { flush() }
    }

    mutating func finish() throws {
        flush()
        if let failure { throw failure }
    }

    private mutating func flush() {
        guard failure == nil else { return }
        do {
            try stream.write(text)
        } catch {
            failure = error
        }
        text = ""
    }
}
