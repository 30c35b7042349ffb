package import HeraldCore
internal import HeraldDriver
package import HeraldEvents
package import HeraldKafka
internal import HeraldKernel
package import HeraldText
package import HeraldTime

/// Follows the campaigns topic for the lanes of a worker, and records a campaign's pause when one of them reports too
/// many failures: pure.
///
/// Lanes learn the topic's content when all of it is read, so that no outdated state reaches them. A pause is only
/// recorded for the control that a lane has judged: an operator's later decision takes precedence.
package struct ControlMachine: JobMachine {
    /// An order of the machine.
    package enum Action: Equatable, Sendable {
        /// Asks for the topic's partitions: ``found(_:now:)``, ``notFound(_:now:)``.
        case findPartitions
        /// Reads these partitions from their beginning and continues at their end: ``receive(key:value:)``,
        /// ``reachedEnd(now:)``, ``readingFailed(_:now:)``.
        case read([TopicPartition])
        /// Informs every lane, and those that are still to start.
        case tell(String, CampaignControl)
        /// The topic's content was reported, or there is no topic: lanes stop waiting.
        case settled
        /// Writes the control record of a campaign: ``written(_:now:)``.
        case write(String, CampaignControl)
        case notice(Notice)
    }

    /// News for the operator.
    package enum Notice: Equatable, Sendable {
        /// Campaigns are neither paused nor cancelled meanwhile.
        case unreadable(KafkaError)
        /// This has changed while it followed.
        case changed(String, CampaignControl)
        /// A campaign's pause could not be recorded yet.
        case unwritten(CampaignFailures, KafkaError)
    }

    /// The time between two looks for a missing topic, and between two attempts to write.
    static let restTime: Milliseconds = .seconds(2)
    /// The time within which added partitions are found.
    static let countInterval: Milliseconds = .minutes(1)
    /// The control of a campaign whose record is gone.
    static let unwritten = CampaignControl(state: .running, at: WallTime(milliseconds: 0), by: "")

    /// The worker's name in its records.
    private let worker: String
    private var phase = Phase.idle
    private var actions: [Action] = []

    /// The states read so far; on the way to the end, later records may supersede them.
    private var states = CampaignStates()
    /// The controls that lanes know.
    private var told: [String: CampaignControl] = [:]
    private var partitions: [TopicPartition] = []
    private var hasSettled = false
    /// The last trouble reported to the operator.
    private var trouble: KafkaError?

    /// The lanes' reports, in the order of their handling.
    private var failures: [CampaignFailures] = []
    /// The report whose pause is being recorded.
    private var writing: CampaignFailures?
    private var nextWrite = MonotonicTime.distantPast
    /// The control under which each campaign's pause was recorded, whose record may not be read yet: other lanes see
    /// the same failures, and an operator may have answered the first pause.
    private var paused: [String: CampaignControl] = [:]

    /// A machine that does nothing before its first turn.
    ///
    /// - Parameter worker: the worker's name in its records.
    package init(worker: String) { self.worker = worker }

    // MARK: Inputs

    /// Takes the topic's partitions.
    package mutating func found(_ partitions: [TopicPartition], now: Moment) {
        switch phase {
        case .counting where partitions == self.partitions: phase.become(.following(countsAt: Self.nextCount(now)))
        case .looking, .counting:
            phase.become(.reading)
            self.partitions = partitions
            states = CampaignStates()
            actions.append(.read(partitions))
        case .idle, .reading, .following, .resting, .ended: break
        }
    }

    /// Takes a record of the topic, in its order.
    ///
    /// - Throws: for a record that is no control record although it should be one: it is ignored.
    package mutating func receive(key: RawSpan, value: RawSpan?) throws(InvalidArgument) {
        try states.record(key: key, value: value)
        if isFollowing { tell() }
    }

    /// Notes that the topic's content is read.
    package mutating func reachedEnd(now: Moment) {
        guard case .reading = phase else { return }
        phase.become(.following(countsAt: Self.nextCount(now)))
        trouble = nil
        tell()
        settle()
    }

    /// Notes that the topic's partitions are unknown.
    package mutating func notFound(_ error: KafkaError, now: Moment) {
        // The machine waits for absent brokers, as does the reader.
        if case .counting = phase, !error.isOfTopic {
            phase.become(.following(countsAt: Self.nextCount(now)))
        } else {
            readingFailed(error, now: now)
        }
    }

    /// Notes that the topic is missing or unreadable.
    package mutating func readingFailed(_ error: KafkaError, now: Moment) {
        // One cause shows in several ways.
        guard ![.idle, .resting, .ended].contains(phase.name) else { return }
        phase.become(.resting(until: now.monotonic.advanced(by: Self.restTime)))
        let isMissing = error.isOfTopic && error.kind != .forbidden
        if error.code != trouble?.code, !isMissing { actions.append(.notice(.unreadable(error))) }
        trouble = error
        // Then a start has nothing to wait for.
        if error.isOfTopic { settle() }
    }

    /// Takes a lane's report that too many of a campaign's events failed.
    package mutating func failing(_ failures: CampaignFailures) { self.failures.append(failures) }

    /// Takes the result of a write; a failed one may have been made all the same.
    package mutating func written(_ error: KafkaError?, now: Moment) {
        guard let failures = writing else { return }
        writing = nil
        guard let error else {
            paused[failures.campaign] = failures.judged
            return
        }
        actions.append(.notice(.unwritten(failures, error)))
        self.failures.append(failures)
        nextWrite = now.monotonic.advanced(by: Self.restTime)
    }

    /// Ends the machine with its worker.
    package mutating func stop() {
        if phase.name != .ended { phase.become(.ended) }
    }

    // MARK: Turns

    package mutating func advance(now: Moment) {
        switch phase {
        case .idle: look()
        case .resting(let end) where now.monotonic >= end: look()
        case .following(let count) where now.monotonic >= count:
            phase.become(.counting)
            actions.append(.findPartitions)
        case .looking, .reading, .following, .counting, .resting, .ended: break
        }
        pauseFailing(now: now)
    }

    package var nextWake: MonotonicTime? {
        switch phase {
        case .idle: .distantPast
        case .resting(let end): end
        case .following(let count): wantsWrite ? min(count, nextWrite) : count
        case .counting: wantsWrite ? nextWrite : nil
        case .looking, .reading, .ended: nil
        }
    }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    package var isOver: Bool { phase.name == .ended }

    /// Whether the topic's content is read, and lanes learn each change.
    package var isFollowing: Bool { [.following, .counting].contains(phase.name) }

    private mutating func look() {
        phase.become(.looking)
        actions.append(.findPartitions)
    }

    private static func nextCount(_ now: Moment) -> MonotonicTime {
        now.monotonic.advanced(by: countInterval)
    }

    /// Settles the machine once.
    private mutating func settle() {
        guard !hasSettled else { return }
        hasSettled = true
        actions.append(.settled)
    }

    /// Reports changes to the lanes.
    private mutating func tell() {
        for name in states.names.union(told.keys).sorted() {
            let control = states.control(of: name)
            guard control != told[name] else { continue }
            told[name] = control
            paused[name] = nil
            actions.append(.tell(name, control ?? Self.unwritten))
            if hasSettled { actions.append(.notice(.changed(name, control ?? Self.unwritten))) }
        }
    }

    // MARK: Pausing

    private var wantsWrite: Bool { isFollowing && writing == nil && !failures.isEmpty }

    private mutating func pauseFailing(now: Moment) {
        while wantsWrite, now.monotonic >= nextWrite {
            let failures = failures.removeFirst()
            let control = told[failures.campaign] ?? Self.unwritten
            // Another lane or process was faster, or an operator has decided otherwise.
            guard control == failures.judged, control.state == .running, paused[failures.campaign] != control else {
                continue
            }
            writing = failures
            actions.append(
                .write(
                    failures.campaign,
                    CampaignControl(
                        state: .paused, at: now.wall, by: worker, reason: failures.reason,
                        pauseIfFailures: control.pauseIfFailures, cause: .failures)))
        }
    }
}
