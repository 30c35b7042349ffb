extension WaitReason {
    /// A kind of reason, by its place among all: its word in metrics and JSON, what it means, what ends it, and what changes it.
    ///
    /// docs/RUNBOOK.md has this table, and a test compares.
    public enum Kind: UInt8, WaitKind {
        case calling
        case nextTurn
        case behindUser
        case behindPartition
        case behindSame
        case sameUnderWay
        case notBefore
        case retryDue
        case quickRetry
        case campaignPaused
        case credentialsRenewal
        case credentialsDoubt
        case outage
        case unrecordedOutcomes
        case stoodStill
        case backendPause
        case serviceLimit
        case totalLimit
        case learnedLimit
        case callsInFlight
        case otherPushServices
        case stopping
        case unacknowledged
        case transaction
        case transactionEnds
        case producer
        case recordRefused

        /// Its word in metrics and JSON.
        public var word: String {
            switch self {
            case .calling: "calling"
            case .nextTurn: "next-turn"
            case .behindUser: "behind-user"
            case .behindPartition: "behind-partition"
            case .behindSame: "behind-same"
            case .sameUnderWay: "same-under-way"
            case .notBefore: "not-before"
            case .retryDue: "retry-due"
            case .quickRetry: "quick-retry"
            case .campaignPaused: "campaign-paused"
            case .credentialsRenewal: "credentials-renewal"
            case .credentialsDoubt: "credentials-doubt"
            case .outage: "outage"
            case .unrecordedOutcomes: "unrecorded-outcomes"
            case .stoodStill: "stood-still"
            case .backendPause: "backend-pause"
            case .serviceLimit: "service-limit"
            case .totalLimit: "total-limit"
            case .learnedLimit: "learned-limit"
            case .callsInFlight: "calls-in-flight"
            case .otherPushServices: "other-push-services"
            case .stopping: "stopping"
            case .unacknowledged: "unacknowledged"
            case .transaction: "transaction"
            case .transactionEnds: "transaction-ends"
            case .producer: "producer"
            case .recordRefused: "record-refused"
            }
        }

        /// Whether the event waits: not one that is being called.
        public var isWait: Bool { self != .calling }

        /// What it waits for.
        public var meaning: String {
            switch self {
            case .calling: "its call is under way: no wait"
            case .nextTurn: "nothing: its call begins at once"
            case .behindUser: "earlier events of its user"
            case .behindPartition: "earlier events of its partition (`delivery.ordering: partition`)"
            case .behindSame: "an event before it that may be the same one (`delivery.ordering: none`)"
            case .sameUnderWay: "an event that may be the same one, and is in another place or a delay topic"
            case .notBefore: "its `notBefore`"
            case .retryDue: "the end of its delay"
            case .quickRetry: "the next of the retries that are made at once"
            case .campaignPaused: "its campaign, which is paused, without `retry.delays` to wait in"
            case .credentialsRenewal: "new credentials: it was refused (401, 403)"
            case .credentialsDoubt: "others' answers: it was refused twice"
            case .outage: "the end of an outage"
            case .unrecordedOutcomes: "a commit: outcomes have waited for one too long"
            case .stoodStill: "a commit: the worker stood still, and has to show that its partitions are its own"
            case .backendPause: "quiet that the backend asked for (`Retry-After`)"
            case .serviceLimit: "the settings' limit of its push service"
            case .totalLimit: "the settings' limit of all calls"
            case .learnedLimit: "the rate that the backend was found to bear"
            case .callsInFlight: "the end of a call: as many as there may be are in flight"
            case .otherPushServices: "the event's other push services; this one is decided"
            case .stopping: "nothing: it is not called any more, because partitions go or the worker stops"
            case .unacknowledged: "the broker, which has not acknowledged its records"
            case .transaction: "the next transaction, with which its outcome is written"
            case .transactionEnds: "a transaction's end, which the broker was asked for"
            case .producer: "a transactional producer, which is being made ready"
            case .recordRefused: "a transaction of its own: the broker refused a record of it"
            }
        }

        /// What ends it.
        public var end: String {
            switch self {
            case .calling: "the backend's answer, or backend.timeout"
            case .nextTurn: "the worker's next turn, at once"
            case .behindUser: "the outcome of the events before it; one that takes 15 s lets it go to a delay topic"
            case .behindPartition: "the outcome of the events before it"
            case .behindSame: "the outcome of the event before it"
            case .sameUnderWay: "the outcome of the other event, found when it looks again"
            case .notBefore, .retryDue, .quickRetry: "that moment"
            case .campaignPaused: "the campaign is resumed or cancelled"
            case .credentialsRenewal: "the credentials' renewal, well or not"
            case .credentialsDoubt: "an answer to another call, or that moment"
            case .outage: "a probe that is answered; /readyz says what to do"
            case .unrecordedOutcomes, .stoodStill: "a commit; /readyz says why there is none"
            case .backendPause, .serviceLimit, .totalLimit: "its turn after that moment"
            case .learnedLimit: "its turn after that moment; the rate grows while the backend refuses nothing"
            case .callsInFlight: "the end of a call"
            case .otherPushServices: "the outcome of the others"
            case .stopping: "the next owner of the partition, or the worker's next start"
            case .unacknowledged: "the broker's acknowledgement; /readyz says why there is none"
            case .transaction, .transactionEnds, .producer: "the commit; /readyz says why there is none"
            case .recordRefused: "the broker takes it; the log says why it did not"
            }
        }

        /// The settings and commands that change it; empty when none does.
        public var changes: [String] {
            switch self {
            case .calling: ["backend.timeout"]
            case .nextTurn, .retryDue, .credentialsDoubt, .otherPushServices, .stopping, .producer: []
            case .behindUser, .behindPartition: ["delivery.ordering"]
            case .behindSame, .sameUnderWay: ["delivery.dedupe.window"]
            case .notBefore: []
            case .quickRetry: ["retry.immediate"]
            case .campaignPaused: ["herald campaign resume NAME"]
            case .credentialsRenewal: ["backend.auth"]
            case .outage: ["outages", "backend.statuses", "herald doctor"]
            case .unrecordedOutcomes: ["delivery.maxUnrecorded", "herald doctor"]
            case .stoodStill: ["delivery.maxUnrecorded"]
            case .backendPause, .learnedLimit: ["backend.statuses"]
            case .serviceLimit: ["limits.pushServices"]
            case .totalLimit: ["limits.perSecond"]
            case .callsInFlight: ["delivery.maxInFlight"]
            case .unacknowledged: ["herald doctor"]
            case .transaction, .transactionEnds: ["delivery.commitInterval"]
            case .recordRefused: ["herald topics plan"]
            }
        }
    }
}
