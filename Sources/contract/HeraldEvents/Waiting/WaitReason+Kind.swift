extension WaitReason {
    /// A kind of reason, by its place among all.
    public enum Kind: UInt8, WaitKind {
        case calling, nextTurn, behindUser, behindPartition, behindSame, sameUnderWay, notBefore, retryDue, quickRetry
        case campaignPaused, preferencesBehind, credentialsRenewal, credentialsDoubt, outage, pushServiceHeld
        case unrecordedOutcomes, stoodStill
        case backendPause, serviceLimit, totalLimit, learnedLimit, callsInFlight, otherPushServices, stopping
        case unacknowledged, transaction, transactionEnds, producer, recordRefused

        /// Whether the event waits: not one that is being called.
        public var isWait: Bool { self != .calling }

        /// In the order of the kinds.
        public static let rows: [WaitRow] = [
            .init(
                "calling", "its call is under way: no wait", end: "the backend's answer, or backend.timeout",
                "backend.timeout"),
            .init("next-turn", "nothing: its call begins at once", end: "the worker's next turn, at once"),
            .init(
                "behind-user", "earlier events of its user",
                end: "the outcome of the events before it; one that takes 15 s lets it go to a delay topic",
                "delivery.ordering"),
            .init(
                "behind-partition", "earlier events of its partition (`delivery.ordering: partition`)",
                end: "the outcome of the events before it", "delivery.ordering"),
            .init(
                "behind-same", "an event before it that may be the same one (`delivery.ordering: none`)",
                end: "the outcome of the event before it", "delivery.dedupe.window"),
            .init(
                "same-under-way", "an event that may be the same one, and is in another place or a delay topic",
                end: "the outcome of the other event, found when it looks again", "delivery.dedupe.window"),
            .init("not-before", "its `notBefore`", end: "that moment"),
            .init("retry-due", "the end of its delay", end: "that moment"),
            .init(
                "quick-retry", "the next of the retries that are made at once", end: "that moment", "retry.immediate"),
            .init(
                "campaign-paused", "its campaign, which is paused, without `retry.delays` to wait in",
                end: "the campaign is resumed or cancelled", "herald campaign resume NAME"),
            .init(
                "preferences-behind",
                "its user's latest preferences: it is promotional, and there are no `retry.delays` to wait in",
                end: "the worker has read the preferences topic to its end", "preferences.maxLag", "herald doctor"),
            .init(
                "credentials-renewal", "new credentials: it was refused (401, 403)",
                end: "the credentials' renewal, well or not", "backend.auth"),
            .init(
                "credentials-doubt", "others' answers: it was refused twice",
                end: "an answer to another call, or that moment"),
            .init(
                "outage", "the end of an outage", end: "a probe that gets through; /readyz says what to do", "outages",
                "backend.statuses", "herald doctor"),
            .init(
                "push-service-held", "its push service, which refuses every call while others are accepted",
                end: "a probe that gets through; /readyz says what to do", "backend.statuses", "herald doctor"),
            .init(
                "unrecorded-outcomes", "a commit: outcomes have waited for one too long",
                end: "a commit; /readyz says why there is none", "delivery.maxUnrecorded", "herald doctor"),
            .init(
                "stood-still", "a commit: the worker stood still, and has to show that its partitions are its own",
                end: "a commit; /readyz says why there is none", "delivery.maxUnrecorded"),
            .init(
                "backend-pause", "quiet that the backend asked for (`Retry-After`)", end: "its turn after that moment",
                "backend.statuses"),
            .init(
                "service-limit", "the settings' limit of its push service", end: "its turn after that moment",
                "limits.pushServices"),
            .init(
                "total-limit", "the settings' limit of all calls", end: "its turn after that moment", "limits.perSecond"
            ),
            .init(
                "learned-limit", "the rate that the backend was found to bear",
                end: "its turn after that moment; the rate grows while the backend refuses nothing", "backend.statuses"),
            .init(
                "calls-in-flight", "the end of a call: as many as there may be are in flight", end: "the end of a call",
                "delivery.maxInFlight"),
            .init(
                "other-push-services", "the event's other push services; this one is decided",
                end: "the outcome of the others"),
            .init(
                "stopping", "nothing: it is not called any more, because partitions go or the worker stops",
                end: "the next owner of the partition, or the worker's next start"),
            .init(
                "unacknowledged", "the broker, which has not acknowledged its records",
                end: "the broker's acknowledgement; /readyz says why there is none", "herald doctor"),
            .init(
                "transaction", "the next transaction, with which its outcome is written",
                end: "the commit; /readyz says why there is none", "delivery.commitInterval"),
            .init(
                "transaction-ends", "a transaction's end, which the broker was asked for",
                end: "the commit; /readyz says why there is none", "delivery.commitInterval"),
            .init(
                "producer", "a transactional producer, which is being made ready",
                end: "the commit; /readyz says why there is none"),
            .init(
                "record-refused", "a transaction of its own: the broker refused a record of it",
                end: "the broker takes it; the log says why it did not", "herald topics plan"),
        ]
    }
}
