extension OutcomeReader {
    /// So long the outcomes are waited for that workers are about to commit.
    private static var lastPatience: Duration { .seconds(3) }
    /// When none has come for so long, no worker is about to commit some.
    private static var lastQuiet: Duration { .milliseconds(700) }
    private static var lastPollMilliseconds: Int32 { 50 }

    /// Reads what workers have settled by now, before somebody says how a campaign stands at the end of its publishing.
    ///
    /// What is not read in time is open, as before.
    ///
    /// - Parameter isOpenEnded: whether workers may have outcomes that they are still about to write: they have paused the
    ///   campaign because of them.
    func readLast(isOpenEnded: Bool) {
        let deadline = ContinuousClock.now + Self.lastPatience
        _ = try? catchUp(throughOpenTransactions: true, onProgress: { _, _ in ContinuousClock.now < deadline })
        guard isOpenEnded else { return }
        var (known, lastNews) = (count.known, ContinuousClock.now)
        while ContinuousClock.now < min(deadline, lastNews + Self.lastQuiet),
            (try? poll(waitMilliseconds: Self.lastPollMilliseconds)) != nil
        {
            if count.known != known { (known, lastNews) = (count.known, .now) }
        }
    }
}
