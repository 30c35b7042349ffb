internal import HeraldDriver
package import HeraldKafka
internal import HeraldKernel
package import HeraldTime

/// Follows the topics of opt-outs and recalls for the lanes of a worker, and knows how old what they know may be: pure.
///
/// Both topics are read together, whole, and then record by record as they come. Each second it asks for their ends:
/// when everything up to there is applied, what lanes know is as young as the question.
package struct WordsMachine: JobMachine {
    /// An order of the machine.
    package enum Action: Equatable, Sendable {
        /// Asks for the topics' partitions: ``found(_:missing:now:)``, ``notFound(_:now:)``.
        case findPartitions
        /// Reads these partitions from their beginning, applies each record, and goes on at the ends that they have now:
        /// ``reachedEnd(now:)``, ``readingFailed(_:now:)``.
        ///
        /// Again: what is not read any more is forgotten when the ends are reached.
        case read([TopicPartition], isAgain: Bool)
        /// Asks for the partitions' ends: ``reachedEnd(now:)`` once everything up to there is applied,
        /// ``endsUnknown(_:now:)``.
        case askEnds
        /// Everything that was committed at this moment is applied.
        case current(MonotonicTime)
        /// The topics' content is applied, or cannot be: lanes stop waiting.
        case settled
        case notice(Notice)
    }

    /// News for the operator.
    package enum Notice: Equatable, Sendable {
        /// What users said last is not known; promotional events are held soon.
        case unreadable(KafkaError)
        /// These topics are not there; none: all are.
        case missing([String])
        /// Everything is applied, for the first time or again.
        case complete
    }

    /// The time between two questions for the ends, and between two looks for a missing topic.
    static let interval: Milliseconds = .seconds(1)
    /// The time within which added partitions are found.
    static let countInterval: Milliseconds = .minutes(1)

    private var phase = Phase.idle
    private var actions: [Action] = []

    private var partitions: [TopicPartition] = []
    /// The topics that the latest look did not find: a broker that has just come back may not know all of them yet, so
    /// that only a second look is believed.
    private var missing: [String] = []
    /// The missing topics that the operator knows of.
    private var announced: [String] = []
    private var askedAt = MonotonicTime.distantPast
    private var nextCount = MonotonicTime.distantPast
    /// Whether all that the topics had is applied, so that a new reading has to find out what is gone.
    private var isWhole = false
    private var hasSettled = false
    /// The last trouble reported to the operator.
    private var trouble: KafkaError?

    /// A machine that does nothing before its first turn.
    package init() {}

    // MARK: Inputs

    /// Takes the topics' partitions.
    ///
    /// - Parameter missing: the topics that are not there.
    package mutating func found(_ partitions: [TopicPartition], missing: [String], now: Moment) {
        let isSure = Set(missing).isSubset(of: self.missing)
        switch phase {
        case .looking, .counting: self.missing = missing
        case .idle, .absent, .reading, .following, .approaching, .resting, .ended: return
        }
        setNextCount(now)
        if case .counting = phase, partitions == self.partitions || !isSure {
            return phase.become(.following(until: now.monotonic))
        }
        guard isSure else { return rest(now) }
        announce(missing)
        self.partitions = partitions
        guard !partitions.isEmpty else {
            phase.become(.absent(until: now.monotonic.advanced(by: Self.interval)))
            return settle()
        }
        phase.become(.reading(asOf: now.monotonic))
        actions.append(.read(partitions, isAgain: isWhole))
        isWhole = false
    }

    /// Notes that the topics' partitions are unknown.
    package mutating func notFound(_ error: KafkaError, now: Moment) {
        // The reader waits for absent brokers, too.
        guard case .counting = phase, !error.isOfTopic else { return readingFailed(error, now: now) }
        setNextCount(now)
        phase.become(.following(until: now.monotonic))
    }

    /// Notes that everything up to the ends is applied.
    package mutating func reachedEnd(now: Moment) {
        switch phase {
        case .reading(let moment):
            isWhole = true
            setNextCount(now)
            actions.append(.notice(.complete))
            isCurrent(asOf: moment)
            settle()
        case .approaching(let moment): isCurrent(asOf: moment)
        case .idle, .looking, .absent, .following, .counting, .resting, .ended: break
        }
    }

    /// Notes that no broker tells the ends: they are asked again.
    package mutating func endsUnknown(_ error: KafkaError, now: Moment) {
        guard case .approaching = phase else { return }
        if error.isOfTopic { return readingFailed(error, now: now) }
        note(error)
        phase.become(.following(until: now.monotonic.advanced(by: Self.interval)))
    }

    /// Notes that a topic is missing or unreadable.
    package mutating func readingFailed(_ error: KafkaError, now: Moment) {
        // One cause shows in several ways.
        guard ![.idle, .absent, .resting, .ended].contains(phase.name) else { return }
        note(error)
        rest(now)
        // Then a start has nothing to wait for.
        if error.isOfTopic { settle() }
    }

    /// Ends the machine with its worker.
    package mutating func stop() {
        if phase.name != .ended { phase.become(.ended) }
    }

    // MARK: Turns

    package mutating func advance(now: Moment) {
        switch phase {
        case .idle: look(now, .looking)
        case .resting(let end), .absent(let end):
            if now.monotonic >= end { look(now, .looking) }
        case .following(let end) where now.monotonic >= end:
            if now.monotonic >= nextCount { return look(now, .counting) }
            phase.become(.approaching(asOf: now.monotonic))
            actions.append(.askEnds)
        case .looking, .reading, .following, .approaching, .counting, .ended: break
        }
    }

    package var nextWake: MonotonicTime? {
        switch phase {
        case .idle: .distantPast
        case .resting(let end), .absent(let end), .following(let end): end
        case .looking, .reading, .approaching, .counting, .ended: nil
        }
    }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    package var isOver: Bool { phase.name == .ended }

    private mutating func look(_ now: Moment, _ next: Phase) {
        phase.become(next)
        askedAt = now.monotonic
        actions.append(.findPartitions)
    }

    private mutating func rest(_ now: Moment) {
        phase.become(.resting(until: now.monotonic.advanced(by: Self.interval)))
    }

    private mutating func setNextCount(_ now: Moment) {
        nextCount = now.monotonic.advanced(by: missing.isEmpty ? Self.countInterval : Self.interval)
    }

    private mutating func isCurrent(asOf moment: MonotonicTime) {
        trouble = nil
        phase.become(.following(until: moment.advanced(by: Self.interval)))
        // A topic that is not there, or has another name than in the settings, would opt everybody in.
        if announced.isEmpty { actions.append(.current(moment)) }
    }

    private mutating func note(_ error: KafkaError) {
        // A topic that is missing is told of by its name.
        if error.code != trouble?.code, error.kind != .unknownTopic { actions.append(.notice(.unreadable(error))) }
        trouble = error
    }

    private mutating func announce(_ missing: [String]) {
        guard missing != announced else { return }
        announced = missing
        actions.append(.notice(.missing(missing)))
    }

    /// Settles the machine once.
    private mutating func settle() {
        guard !hasSettled else { return }
        hasSettled = true
        actions.append(.settled)
    }
}
