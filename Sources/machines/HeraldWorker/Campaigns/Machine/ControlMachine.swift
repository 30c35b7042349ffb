package import HeraldCore
internal import HeraldDriver
package import HeraldEvents
package import HeraldKafka
internal import HeraldKernel
package import HeraldText
package import HeraldTime

/// Follows the campaigns topic for the lanes of a worker, and writes that a campaign is paused when one of them says that
/// too many of its events failed: pure.
///
/// Lanes hear of what stands in the topic when all of it is read, so that no long outdated state reaches them. A pause is
/// only written of what a lane has judged: whatever an operator has decided since counts for more.
package struct ControlMachine: JobMachine {
    /// What it wants done.
    package enum Action: Equatable, Sendable {
        /// Asks for the topic's partitions: ``found(_:now:)``, ``notFound(_:now:)``.
        case findPartitions
        /// Reads these partitions from their beginning and goes on at their end: ``receive(key:value:)``,
        /// ``reachedEnd(now:)``, ``readingFailed(_:now:)``.
        case read([TopicPartition])
        /// Tells every lane, and those that are still to start.
        case tell(String, CampaignControl)
        /// What stands in the topic was told, or there is no topic: lanes need not wait any more.
        case settled
        /// Writes the control record of a campaign: ``written(_:now:)``.
        case write(String, CampaignControl)
        case notice(Notice)
    }

    /// What people should know.
    package enum Notice: Equatable, Sendable {
        /// Campaigns are neither paused nor cancelled meanwhile.
        case unreadable(KafkaError)
        /// This has changed while it followed.
        case changed(String, CampaignControl)
        /// That a campaign is paused could not be written yet.
        case unwritten(CampaignFailures, KafkaError)
    }

    /// Between two looks for a topic that is missing, and two tries to write.
    static let restTime: Milliseconds = .seconds(2)
    /// Partitions that were added are found within this time.
    static let countInterval: Milliseconds = .minutes(1)
    /// Of a campaign whose record is gone.
    static let unwritten = CampaignControl(state: .running, at: WallTime(milliseconds: 0), by: "")

    /// The worker, as it signs what it writes.
    private let worker: String
    private var phase = Phase.idle
    private var actions: [Action] = []

    /// What is read on the way to the end has been overtaken by what comes later, perhaps.
    private var states = CampaignStates()
    /// What lanes were told.
    private var told: [String: CampaignControl] = [:]
    private var partitions: [TopicPartition] = []
    private var hasSettled = false
    /// The last trouble that people were told of.
    private var trouble: KafkaError?

    /// What lanes say, in the order in which it is dealt with.
    private var failures: [CampaignFailures] = []
    /// What is being written now.
    private var writing: CampaignFailures?
    private var nextWrite = MonotonicTime.distantPast
    /// What each campaign was to do when it was written that it is paused, which may not be read yet: other lanes see the
    /// same failures, and an operator may have answered the first pause.
    private var paused: [String: CampaignControl] = [:]

    /// A machine that does nothing before its first turn.
    ///
    /// - Parameter worker: the worker, as it signs what it writes.
    package init(worker: String) { self.worker = worker }

    // MARK: Inputs

    /// These are the topic's partitions.
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

    /// A record of the topic, in its order.
    ///
    /// - Throws: when it should be a control record and is none: it is ignored.
    package mutating func receive(key: RawSpan, value: RawSpan?) throws(InvalidArgument) {
        try states.record(key: key, value: value)
        if isFollowing { tell() }
    }

    /// What stood in the topic is read.
    package mutating func reachedEnd(now: Moment) {
        guard case .reading = phase else { return }
        phase.become(.following(countsAt: Self.nextCount(now)))
        trouble = nil
        tell()
        settle()
    }

    /// It is not known which partitions the topic has.
    package mutating func notFound(_ error: KafkaError, now: Moment) {
        // Brokers that are away are waited for, by the reader as well.
        if case .counting = phase, !error.isOfTopic {
            phase.become(.following(countsAt: Self.nextCount(now)))
        } else {
            readingFailed(error, now: now)
        }
    }

    /// The topic is missing, or can't be read.
    package mutating func readingFailed(_ error: KafkaError, now: Moment) {
        // One cause shows in several ways.
        guard ![.idle, .resting, .ended].contains(phase.name) else { return }
        phase.become(.resting(until: now.monotonic.advanced(by: Self.restTime)))
        let isMissing = error.isOfTopic && error.kind != .forbidden
        if error.code != trouble?.code, !isMissing { actions.append(.notice(.unreadable(error))) }
        trouble = error
        // Then there is nothing that a start should wait for.
        if error.isOfTopic { settle() }
    }

    /// Too many of a campaign's events failed, a lane says.
    package mutating func failing(_ failures: CampaignFailures) { self.failures.append(failures) }

    /// What was to be written is written, or not; perhaps it was all the same.
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

    /// The worker ends.
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

    /// Whether all that stood in the topic is read, and lanes hear of each change.
    package var isFollowing: Bool { [.following, .counting].contains(phase.name) }

    private mutating func look() {
        phase.become(.looking)
        actions.append(.findPartitions)
    }

    private static func nextCount(_ now: Moment) -> MonotonicTime {
        now.monotonic.advanced(by: countInterval)
    }

    /// Lanes wait for it once.
    private mutating func settle() {
        guard !hasSettled else { return }
        hasSettled = true
        actions.append(.settled)
    }

    /// Tells lanes what has changed.
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
                        pauseIfFailures: control.pauseIfFailures, isByFailures: true)))
        }
    }
}
