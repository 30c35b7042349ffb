extension JobWaitReason {
    /// A kind of reason.
    ///
    /// docs/RUNBOOK.md has this table, and a test compares.
    public enum Kind: WaitKind {
        case nextTurn
        case reading
        case otherJob
        case claiming
        case transaction
        case broker
        case resting
        case paused
        case campaignPaused
        case pauseUnread
        case rate
        case openOutcomes
        case rampStep
        case lastOutcomes
        case returns
        case turn

        /// Its word in JSON.
        public var word: String {
            switch self {
            case .nextTurn: "next-turn"
            case .reading: "reading"
            case .otherJob: "other-job"
            case .claiming: "claiming"
            case .transaction: "transaction"
            case .broker: "broker"
            case .resting: "resting"
            case .paused: "paused"
            case .campaignPaused: "campaign-paused"
            case .pauseUnread: "pause-unread"
            case .rate: "rate"
            case .openOutcomes: "open-outcomes"
            case .rampStep: "ramp-step"
            case .lastOutcomes: "last-outcomes"
            case .returns: "returns"
            case .turn: "turn"
            }
        }

        /// Whether the job is at its own work: how fast it goes says more than what it waits for at the moment.
        public var isAtWork: Bool {
            switch self {
            case .nextTurn, .reading, .transaction, .rate: true
            case .otherJob, .claiming, .broker, .resting, .paused, .campaignPaused, .pauseUnread, .openOutcomes,
                .rampStep, .lastOutcomes, .returns, .turn:
                false
            }
        }

        /// Whether it ends with each outcome that comes: how fast they come says when all is done.
        public var isPaced: Bool {
            switch self {
            case .openOutcomes, .lastOutcomes: true
            case .nextTurn, .reading, .otherJob, .claiming, .transaction, .broker, .resting, .paused, .campaignPaused,
                .pauseUnread, .rate, .rampStep, .returns, .turn:
                false
            }
        }

        /// What it waits for.
        public var meaning: String {
            switch self {
            case .nextTurn: "nothing: it goes on at once"
            case .reading: "what it can't go on without: marks, letters, what is published, the audience"
            case .otherJob: "another job, which has the lease on the dead letters"
            case .claiming: "the name that it writes under"
            case .transaction: "a transaction that is under way"
            case .broker: "a broker, which does not take what it writes, or does not answer"
            case .resting: "the moment at which it begins again after trouble"
            case .paused: "an operator, who has paused the job"
            case .campaignPaused: "its campaign, which is paused"
            case .pauseUnread: "its own word that the campaign is paused"
            case .rate: "its rate"
            case .openOutcomes: "outcomes: as many are open as there may be"
            case .rampStep: "the outcomes of a step of the ramp"
            case .lastOutcomes: "the last outcomes; all is published"
            case .returns: "what comes back to the topic of others"
            case .turn: "its turn, behind others of its job"
            }
        }

        /// What ends it.
        public var end: String {
            switch self {
            case .nextTurn: "the job's next turn, at once"
            case .reading: "all of it is read, also behind transactions that are open"
            case .otherJob: "that job ends, or has not renewed its lease for 15 s; one that lives is left alone"
            case .claiming: "the broker's word that the name is its own, and what another has begun is ended"
            case .transaction: "the commit"
            case .broker: "the broker's answer, or the job's patience with it: two minutes"
            case .resting, .rate: "that moment"
            case .paused: "it is resumed on the console's page, or stopped"
            case .campaignPaused: "the campaign is resumed or cancelled"
            case .pauseUnread: "the campaigns topic says it, or that moment"
            case .openOutcomes, .lastOutcomes: "outcomes that workers record"
            case .rampStep: "outcomes that workers record, or that moment"
            case .returns: "that moment, or too many that come back"
            case .turn: "the job has come to it"
            }
        }

        /// The settings, options and commands that change it; empty when none does.
        public var changes: [String] {
            switch self {
            case .nextTurn, .reading, .otherJob, .transaction, .resting, .paused, .pauseUnread, .turn: []
            case .claiming, .broker: ["herald doctor"]
            case .campaignPaused: ["herald campaign resume NAME"]
            case .rate: ["--rate"]
            case .openOutcomes: ["herald doctor"]
            case .rampStep: ["--ramp", "herald doctor"]
            case .lastOutcomes: ["herald doctor"]
            case .returns: ["--wait"]
            }
        }
    }
}
