import TestSupport

/// The moments at which a kill is worst, found by what is in the topics.
extension Fixture {
    /// Stops a publisher from running while a transaction of its own is open on a topic.
    ///
    /// It runs for a few milliseconds between two looks, so that no transaction fits between them.
    func pauseInTransaction(_ run: HeraldProcess, on shortName: String) async throws {
        let end = ContinuousClock.now + .seconds(Patience.seconds)
        while ContinuousClock.now < end, run.isRunning {
            run.pause()
            if try hasOpenTransaction(shortName) { return }
            run.resume()
            try await Task.sleep(for: .milliseconds(2))
        }
        throw WorldError("no transaction of it was seen open:\n\(run.tail)")
    }

    /// Ends a publisher at once while a transaction of its own is open on a topic.
    func killInTransaction(_ run: HeraldProcess, on shortName: String) async throws {
        try await pauseInTransaction(run, on: shortName)
        run.kill()
    }
}
