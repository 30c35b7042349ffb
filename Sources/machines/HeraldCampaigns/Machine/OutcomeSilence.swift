internal import HeraldTime

/// Finds out why no outcome of a campaign comes although some are open, what retries, and whether workers deliver: pure.
///
/// Nothing is asked while outcomes come.
package struct OutcomeSilence: Sendable {
    /// What is known of a silence.
    package struct Facts: Sendable, Equatable {
        /// How long it was when it was looked at last.
        package var length: Duration
        /// What waits in the retry topics; `nil` when that is not known, or was not asked yet.
        package var retries: RetryBacklog.Count?
        /// Why workers do not deliver, in a sentence; `nil` when nothing is known that speaks against them.
        package var trouble: String?
        /// Whether it was asked about the workers.
        package var isAsked = false

        package init(length: Duration) { self.length = length }
    }

    /// What it wants to know.
    enum Question: Sendable, Equatable {
        /// What waits in the retry topics.
        case retries
        case workers
    }

    /// Short silences are none.
    private static let patience: Milliseconds = .seconds(2)
    private static let backlogPause: Milliseconds = .seconds(5)
    /// So long a silence worries people.
    package static let worry = Duration.seconds(30)
    private static let worryTime = Milliseconds(worry)
    private static let questionPause: Milliseconds = .seconds(30)

    private let mayAskWorkers: Bool
    private var since: MonotonicTime?
    private var lastCount: MonotonicTime?
    private var lastQuestion: MonotonicTime?
    private var asked: Set<Question> = []

    private(set) var facts: Facts?
    /// When ``look(now:)`` has something to ask; `nil` when there is no silence, or an answer is to come first.
    private(set) var nextWake: MonotonicTime?

    init(mayAskWorkers: Bool) { self.mayAskWorkers = mayAskWorkers }

    /// An outcome has come, or none is open.
    mutating func end() { (since, facts, nextWake) = (nil, nil, nil) }

    /// No outcome has come: what is to be asked now.
    mutating func look(now: MonotonicTime) -> [Question] {
        let since = since ?? now
        self.since = since
        let length = now.time(since: since)
        var known = facts ?? Facts(length: .zero)
        known.length = length.duration
        facts = known
        let next = moments(since, isAsked: known.isAsked)
        let due = next.filter { $0.moment <= now }.map(\.question)
        asked.formUnion(due)
        nextWake = next.filter { $0.moment > now }.map(\.moment).min()
        return due
    }

    private func moments(
        _ since: MonotonicTime, isAsked: Bool
    ) -> [(question: Question, moment: MonotonicTime)] {
        var moments: [(Question, MonotonicTime)] = []
        if !asked.contains(.retries) {
            let start = since.advanced(by: Self.patience)
            moments.append((.retries, max(start, lastCount?.advanced(by: Self.backlogPause) ?? start)))
        }
        if mayAskWorkers, !asked.contains(.workers) {
            let start = since.advanced(by: Self.worryTime)
            let again = isAsked ? lastQuestion?.advanced(by: Self.questionPause) : nil
            moments.append((.workers, max(start, again ?? start)))
        }
        return moments
    }

    /// What waits in the retry topics; `nil` when the brokers don't say it.
    mutating func answered(retries: RetryBacklog.Count?, now: MonotonicTime) {
        asked.remove(.retries)
        lastCount = now
        facts?.retries = retries
    }

    /// Why workers do not deliver; `nil` when nothing is known that speaks against them.
    mutating func answered(trouble: String?, now: MonotonicTime) {
        asked.remove(.workers)
        lastQuestion = now
        facts?.trouble = trouble
        facts?.isAsked = true
    }
}
