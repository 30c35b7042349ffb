/// Whether `condition` comes to hold within this time; for what only asking again can tell.
public func eventually(
    within seconds: Int = 20, _ condition: () async throws -> Bool
) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while try await !condition() {
        guard ContinuousClock.now < end else { return false }
        try await Task.sleep(for: .milliseconds(20))
    }
    return true
}
