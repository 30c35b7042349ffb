import HeraldCommandLine

/// The progress bar of a long reading, which also tells whether to go on.
final class ReadingBar {
    private let stop: StopRequest
    private var line: ProgressLine
    private var meter = ThroughputMeter()
    private var left: Int64 = 0

    fileprivate init(_ stop: StopRequest, _ console: Console) {
        self.stop = stop
        line = ProgressLine(console)
    }

    /// The speed and the remaining time, to follow the words.
    var pace: String { meter.words(left: left) }

    /// Shows the progress; returns whether the operator wants to go on.
    func show(_ passed: Int64, of total: Int64, _ words: @autoclosure () -> String) -> Bool {
        meter.note(passed)
        left = total - passed
        line.show(share: passed, of: total, words())
        return !stop.isMade
    }

    fileprivate func clear() { line.clear() }
}

extension StopRequest {
    /// Reads with a bar, until the operator stops it.
    func reading<Answer>(
        _ console: Console, interruption: String = "interrupted", _ read: (ReadingBar) throws -> Answer
    ) throws -> Answer {
        let bar = ReadingBar(self, console)
        defer { bar.clear() }
        let answer = try read(bar)
        if isMade { throw CommandFailure(interruption, status: .partlyDone) }
        return answer
    }
}
