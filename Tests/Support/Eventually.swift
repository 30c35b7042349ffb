public import HeraldTime

/// How long tests wait for what has to happen.
///
/// A shared machine stands still for seconds now and then; a test that passes never waits that long.
public enum Patience {
    /// In seconds.
    public static let seconds = 60
    /// As a time-out.
    public static let timeout: Milliseconds = .seconds(seconds)
}

/// Whether `condition` comes to hold within this time; for what only asking again can tell.
public func eventually(
    within seconds: Int = Patience.seconds, _ condition: () async throws -> Bool
) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while try await !condition() {
        guard ContinuousClock.now < end else { return false }
        try await Task.sleep(for: .milliseconds(20))
    }
    return true
}
