/// Settings of a worker whose calls the backend holds until the test releases them.
enum Held {
    /// So many calls of a lane are in flight.
    ///
    /// The limit that follows the backend's latency never goes below it: it is as many however late the answers are.
    static let inFlight = 8

    /// Nothing ends by itself while calls are held.
    static let settings = [
        "delivery.maxInFlight": "\(inFlight)", "backend.timeout": "120s", "delivery.drainTimeout": "120s",
    ]
}
