internal import HeraldEvents

/// What an operator does about dead letters of a kind.
enum SuggestedAction {
    /// - Parameter mayHaveArrived: how many may have reached the person: a replay notifies those twice, unless the backend
    ///   recognises them.
    static func text(
        _ reason: DeadLetterReason, status: Int64?, hasLongMessage: Bool, mayHaveArrived: Int
    ) -> String {
        let text = text(reason, status, hasLongMessage)
        // Its own text says the same.
        guard mayHaveArrived > 0, reason != .unanswered else { return text }
        return text
            + "; \(mayHaveArrived) may have arrived (a call got no answer): does the backend honour idempotency keys?"
    }

    private static func text(_ reason: DeadLetterReason, _ status: Int64?, _ hasLongMessage: Bool) -> String {
        switch reason {
        case .malformed, .invalid: "fix the producer, which must send them again; then resolve"
        case .oversized:
            hasLongMessage
                ? "shorten the message at the producer: \(RecordDecoder.maximumMessageBytes) bytes at most; then resolve"
                : "raise limits.eventBytes and replay, or have the producer send less and resolve"
        case .rejected: rejected(status)
        case .attemptsExhausted: "replay when the backend is well"
        case .timeExhausted: "replay when the backend is well; consider raising retry.maxElapsed"
        case .expired: "resolve: too late to send"
        case .unanswered: "ask the users; replay those who did not see it: the rest would see it twice"
        case .unreadable: "have the publisher send them again; see the runbook, HeraldUnreadableBatch; then resolve"
        case .replaysExhausted: "find the cause; then raise retry.replays, or resolve"
        }
    }

    private static func rejected(_ status: Int64?) -> String {
        switch status {
        case 401, 403: "check the user's permission at the backend, then replay"
        case 404, 405: "check backend.url and backend.path, then replay"
        case 410: "resolve: the device is gone"
        case 413: "shorten the message at the producer; then resolve"
        case .some(300...399): "set backend.url to where the backend redirects to, then replay"
        default: "read the detail of the sample; replay when the cause is fixed"
        }
    }
}
