public import HeraldTime

/// One call for an event, as `herald-history` keeps it.
public struct AttemptEntry: Equatable, Sendable {
    /// When the call was made.
    public var at: WallTime
    /// The push service that it was for.
    public var pushService: String
    /// The status of the answer.
    public var status: Int?
    /// The failure when there was no answer, such as `timeout`.
    public var error: String?
    /// How long the call took.
    public var duration: Milliseconds

    /// A call.
    public init(
        at: WallTime, pushService: String, status: Int? = nil, error: String? = nil, duration: Milliseconds
    ) {
        self.at = at
        self.pushService = pushService
        self.status = status
        self.error = error
        self.duration = duration
    }

    /// Whether the backend may have accepted the message all the same: the call was made, and its answer is unknown.
    ///
    /// A gateway's time-out (504) is as inconclusive.
    public var mayHaveArrived: Bool {
        guard let status else {
            return error.map { word in CallFailure.allCases.contains { $0.mayHaveArrived && $0.word == word } } ?? true
        }
        return status == 504
    }
}
