/// Settings of a worker whose calls the backend holds until the test releases them.
enum Held {
    /// The number of a lane's calls in flight.
    ///
    /// The limit that follows the backend's latency never goes below it, so it stays the same however late answers are.
    static let inFlight = 8

    /// Nothing ends by itself while calls are held.
    static let settings = [
        "delivery.maxInFlight": "\(inFlight)", "backend.timeout": "120s", "delivery.drainTimeout": "120s",
    ]
}
