public import HeraldTime

/// Why a job, or a letter or recipient of it, does not go on: a replay of dead letters, the publisher of a campaign.
///
/// Its machine derives it from the state that it acts on, at the moment at which it is asked; it is stored nowhere.
public enum JobWaitReason: WaitWords {
    /// Nothing is in its way: it goes on at the machine's next turn.
    case nextTurn
    /// It reads what it can't go on without.
    case reading(Reading)
    /// Another job has the lease; until this moment it is watched whether that one lives.
    case otherJob(name: String, owner: String, until: WallTime)
    /// It claims the name that it writes under; it gives up at this moment.
    case claiming(until: WallTime?)
    /// A transaction is under way.
    case transaction(since: WallTime)
    /// A broker does not take what it writes, or does not answer; it is asked again, or given up, at this moment.
    case broker(cause: String, since: WallTime, until: WallTime?)
    /// It begins again after trouble, at this moment.
    case resting(until: WallTime)
    /// An operator has paused the job.
    case paused(by: String, since: WallTime)
    /// The campaign is paused.
    case campaignPaused(by: String, since: WallTime, cause: String?)
    /// It has had the campaign paused, because too many have failed, and waits to read that.
    case pauseUnread(until: WallTime)
    /// The campaign is to begin at this moment, in the words of its operator.
    case scheduled(until: WallTime, words: String)
    /// Its rate lets the next ones go at this moment.
    case rate(until: WallTime)
    /// As many outcomes are open as may be.
    case openOutcomes(Outcomes, limit: Int)
    /// A step of the ramp waits for its outcomes.
    case rampStep(Step, Outcomes)
    /// As many recipients as its operator wanted to see first are published.
    case hold(published: Int, since: WallTime?)
    /// All is published; its last outcomes are waited for, until this moment where it has an end.
    case lastOutcomes(Outcomes, until: WallTime?)
    /// It watches which letters come back to a topic of others, until this moment.
    case returns(until: WallTime)
    /// Its turn comes: so many at most are before it. What the job does itself.
    case turn(ahead: Int, doing: String)

    /// What is read.
    public enum Reading: String, Sendable, CaseIterable {
        /// Who works on the dead letters.
        case lease = "who works on the dead letters"
        /// What was replayed and resolved before.
        case marks = "the marks of what was done before"
        /// The next letters.
        case letters = "the next dead letters"
        /// What the campaigns topic says.
        case campaign = "what the campaigns topic says of the campaign"
        /// Where a new campaign begins.
        case ends = "where the topics end"
        /// The campaign's events.
        case published = "what is published already"
        /// Their outcomes.
        case outcomes = "the outcomes so far"
        /// The next recipients.
        case audience = "the audience"
    }

    /// Outcomes that are waited for.
    public struct Outcomes: Sendable, Equatable {
        /// How many are open.
        public var open: Int
        /// Of these, those that wait in a retry topic; `nil` when that is not known.
        public var retrying: Int?
        /// What is known of why none comes, in words; `nil` while some come.
        public var silence: String?

        /// Outcomes.
        public init(open: Int, retrying: Int? = nil, silence: String? = nil) {
            self.open = open
            self.retrying = retrying
            self.silence = silence
        }
    }

    /// A step of a ramp that is published to its end.
    public struct Step: Sendable, Equatable {
        /// What decides whether the next one begins.
        public enum Judgement: Sendable, Equatable {
            /// Its outcomes; less than half of them is known.
            case mostlyOpen
            /// Its outcomes; if those that are open fail, it pauses.
            case undecided
            /// Its outcomes.
            case outcomes
            /// From this moment on only one recipient is open, who goes on failing: then it begins without him.
            case withoutOne(WallTime)
            /// From this moment on what is open counts as failed.
            case patience(WallTime)
        }

        /// What a step has.
        public enum Content: Sendable {
            case letters, recipients
        }

        /// Its number, from 1.
        public var number: Int
        /// How many it has.
        public var size: Int
        /// Of what.
        public var content: Content
        /// What decides.
        public var judgement: Judgement

        /// A step.
        public init(number: Int, size: Int, of content: Content, _ judgement: Judgement) {
            self.number = number
            self.size = size
            self.content = content
            self.judgement = judgement
        }
    }
}

extension JobWaitReason {
    /// What kind of reason it is.
    public var kind: Kind { row.kind }
    /// Since when, where the state tells.
    public var since: WallTime? { row.since }
    /// When it ends by itself, or is looked at again, at the earliest; `nil` when only something that happens ends it.
    public var until: WallTime? { row.until }

    private var row: (kind: Kind, since: WallTime?, until: WallTime?) {
        switch self {
        case .nextTurn: (.nextTurn, nil, nil)
        case .reading: (.reading, nil, nil)
        case .otherJob(_, _, let until): (.otherJob, nil, until)
        case .claiming(let until): (.claiming, nil, until)
        case .transaction(let since): (.transaction, since, nil)
        case .broker(_, let since, let until): (.broker, since, until)
        case .resting(let until): (.resting, nil, until)
        case .paused(_, let since): (.paused, since, nil)
        case .campaignPaused(_, let since, _): (.campaignPaused, since, nil)
        case .pauseUnread(let until): (.pauseUnread, nil, until)
        case .scheduled(let until, _): (.scheduled, nil, until)
        case .rate(let until): (.rate, nil, until)
        case .openOutcomes: (.openOutcomes, nil, nil)
        case .rampStep(let step, _): (.rampStep, nil, step.judgement.until)
        case .hold(_, let since): (.hold, since, nil)
        case .lastOutcomes(_, let until): (.lastOutcomes, nil, until)
        case .returns(let until): (.returns, nil, until)
        case .turn: (.turn, nil, nil)
        }
    }

    /// What it does, as a sentence goes on behind "it".
    public var phrase: String {
        switch self {
        case .nextTurn: "goes on at once"
        case .reading(let what): "reads \(what.rawValue)"
        case .otherJob(let name, let owner, let until):
            "waits for job \(name) of \(owner), which has the lease; whether that one lives shows by "
                + RFC3339.text(until)
        case .claiming(let until):
            "claims the name that it writes under" + (until.map { "; it gives up at \(RFC3339.text($0))" } ?? "")
        case .transaction(let since): "waits for a transaction, which began at \(RFC3339.text(since))"
        case .broker(let cause, let since, let until):
            "waits for the broker since \(RFC3339.text(since)): \(cause)"
                + (until.map { "; it is asked again, or given up, at \(RFC3339.text($0))" } ?? "")
        case .resting(let until): "begins again at \(RFC3339.text(until))"
        case .paused(let by, let since): "is paused by \(by) since \(RFC3339.text(since))"
        case .campaignPaused(let by, let since, let cause):
            "waits because the campaign is paused by \(by) since \(RFC3339.text(since))"
                + (cause.map { ": \($0)" } ?? "")
        case .pauseUnread(let until):
            "waits to read that it has had the campaign paused; it looks at its outcomes again at "
                + RFC3339.text(until)
        case .scheduled(let until, let words): "waits for its start at \(RFC3339.text(until)), \(words)"
        case .rate(let until): "waits for its rate until \(RFC3339.text(until))"
        case .openOutcomes(let outcomes, let limit):
            "waits for outcomes: \(outcomes.open) are open, and there may be \(limit)\(outcomes.details)"
        case .rampStep(let step, let outcomes): step.lines(outcomes).joined(separator: ": ") + outcomes.details
        case .hold(let published, let since):
            "waits for you" + (since.map { " since \(RFC3339.text($0))" } ?? "")
                + ": \(Self.counted(published, ("recipient is", "recipients are"))) published"
        case .lastOutcomes(let outcomes, let until):
            "waits for the last \(outcomes.words)"
                + (until.map { ", until \(RFC3339.text($0))" } ?? "") + outcomes.details
        case .returns(let until): "watches until \(RFC3339.text(until)) what comes back"
        case .turn(let ahead, let doing):
            "waits for its turn behind at most \(Self.counted(ahead, ("other", "others"))); the job \(doing)"
        }
    }

    fileprivate static func counted(_ count: Int, _ noun: (one: String, many: String)) -> String {
        "\(count) \(count == 1 ? noun.one : noun.many)"
    }
}

extension JobWaitReason.Outcomes {
    fileprivate var words: String {
        JobWaitReason.counted(open, ("outcome", "outcomes"))
            + (retrying.map { $0 > 0 ? " (\($0) retrying)" : "" } ?? "")
    }

    fileprivate var details: String { silence.map { "; \($0)" } ?? "" }
}

extension JobWaitReason.Step {
    /// What it waits for, and what follows from that, in short lines.
    public func lines(_ outcomes: JobWaitReason.Outcomes) -> [String] {
        let noun = content == .letters ? ("dead letter", "dead letters") : ("recipient", "recipients")
        let what = "waits for \(outcomes.words) of step \(number) of the ramp (\(JobWaitReason.counted(size, noun)))"
        return [what] + (judgement.consequence.map { [$0] } ?? [])
    }
}

extension JobWaitReason.Step.Judgement {
    fileprivate var until: WallTime? {
        switch self {
        case .withoutOne(let moment), .patience(let moment): moment
        case .mostlyOpen, .undecided, .outcomes: nil
        }
    }

    fileprivate var consequence: String? {
        switch self {
        case .mostlyOpen: "less than half of it is known"
        case .undecided: "if they fail, the campaign pauses; a start with --ramp none goes on without them"
        case .outcomes: nil
        case .withoutOne(let moment):
            "it continues at \(RFC3339.text(moment)) without one recipient who goes on failing; a start with --ramp none "
                + "does at once"
        case .patience(let moment): "after \(RFC3339.text(moment)) those that are open count as failed"
        }
    }
}
