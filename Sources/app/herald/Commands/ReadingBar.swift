import HeraldCommandLine

/// The bar of a reading that takes its time, and whether to go on with it.
final class ReadingBar {
    private let stop: StopRequest
    private var line: ProgressLine
    private var meter = ThroughputMeter()
    private var left: Int64 = 0

    fileprivate init(_ stop: StopRequest, _ console: Console) {
        self.stop = stop
        line = ProgressLine(console)
    }

    /// How fast it goes, and how long the rest takes, to stand behind the words.
    var pace: String { meter.words(left: left) }

    /// Shows how far it is; whether the operator wants it to go on.
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
    ///
    /// - Parameters:
    ///   - interruption: what is said when they do.
    ///   - read: shows on the bar how far it is, and ends when that answers `false`.
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
