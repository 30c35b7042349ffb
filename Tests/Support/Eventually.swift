public import HeraldTime

/// The time that tests wait for an expected event.
///
/// A shared machine stands still for seconds now and then; a passing test never waits that long.
public enum Patience {
    /// In seconds.
    public static let seconds = 60
    /// As a time-out.
    public static let timeout: Milliseconds = .seconds(seconds)
}

/// Whether `condition` becomes true within this time; for conditions that can only be polled.
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
