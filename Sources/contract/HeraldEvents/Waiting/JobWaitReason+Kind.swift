extension JobWaitReason {
    /// A kind of reason, by its place among all.
    public enum Kind: Int, WaitKind {
        case nextTurn, reading, otherJob, claiming, transaction, broker, resting, paused, campaignPaused, pauseUnread
        case scheduled, rate, openOutcomes, rampStep, hold, lastOutcomes, returns, turn

        /// Whether the job is at its own work: how fast it goes says more than what it waits for at the moment.
        public var isAtWork: Bool { [.nextTurn, .reading, .transaction, .rate].contains(self) }
        /// Whether it ends with each outcome that comes: how fast they come says when all is done.
        public var isPaced: Bool { self == .openOutcomes || self == .lastOutcomes }

        /// In the order of the kinds.
        public static let rows: [WaitRow] = [
            .init("next-turn", "nothing: it goes on at once", end: "the job's next turn, at once"),
            .init(
                "reading", "what it can't go on without: marks, letters, what is published, the audience",
                end: "all of it is read, also behind transactions that are open"),
            .init(
                "other-job", "another job, which has the lease on the dead letters",
                end: "that job ends, or has not renewed its lease for 15 s; one that lives is left alone"),
            .init(
                "claiming", "the name that it writes under",
                end: "the broker's word that the name is its own, and what another has begun is ended",
                "herald doctor"),
            .init("transaction", "a transaction that is under way", end: "the commit"),
            .init(
                "broker", "a broker, which does not take what it writes, or does not answer",
                end: "the broker's answer, or the job's patience with it: two minutes", "herald doctor"),
            .init("resting", "the moment at which it begins again after trouble", end: "that moment"),
            .init(
                "paused", "an operator, who has paused the job",
                end: "it is resumed on the console's page, or stopped"),
            .init(
                "campaign-paused", "its campaign, which is paused", end: "the campaign is resumed or cancelled",
                "herald campaign resume NAME"),
            .init(
                "pause-unread", "its own word that the campaign is paused",
                end: "the campaigns topic says it, or that moment"),
            .init(
                "scheduled", "the moment at which its campaign is to begin",
                end: "that moment, by this machine's clock",
                "herald campaign start --at now"),
            .init("rate", "its rate", end: "that moment", "--rate"),
            .init(
                "open-outcomes", "outcomes: as many are open as there may be", end: "outcomes that workers record",
                "herald doctor"),
            .init(
                "ramp-step", "the outcomes of a step of the ramp", end: "outcomes that workers record, or that moment",
                "--ramp", "herald doctor"),
            .init(
                "hold", "its operator: as many as were to be seen first are published",
                end: "an operator says that it goes on, or cancels it", "herald campaign resume NAME"),
            .init(
                "last-outcomes", "the last outcomes; all is published", end: "outcomes that workers record",
                "herald doctor"),
            .init(
                "returns", "what comes back to the topic of others", end: "that moment, or too many that come back",
                "--wait"),
            .init("turn", "its turn, behind others of its job", end: "the job has come to it"),
        ]
    }
}
