package import HeraldEvents
package import HeraldReplay
package import HeraldTime

/// Everything that is recorded of one event, the oldest first.
package struct EventTimeline: Sendable, Equatable {
    /// The request record.
    package let origin: Origin
    package internal(set) var id: String?
    package internal(set) var user: String?
    package internal(set) var source: String?
    package internal(set) var campaign: String?
    /// The class that it says of itself.
    package internal(set) var eventClass: EventClass?
    /// The id of its trace: 32 hexadecimal digits.
    package internal(set) var trace: String?
    /// What is wrong with how it was published, as far as it is certain.
    package internal(set) var fault: PublisherFault?
    /// Those that the event names, as far as it is known.
    package internal(set) var pushServices: [String] = []
    /// Of one event at most ``stepLimit`` are kept, the newest.
    package internal(set) var steps: [TimelineStep] = []
    package internal(set) var droppedCount = 0

    /// More than the retries of a day.
    static let stepLimit = 500

    init(origin: Origin) {
        self.origin = origin
    }

    /// When it was published, or the first that is known of it.
    package var begin: WallTime? { steps.first?.at }

    /// The latest outcome of each push service, by its name; those of a former replay do not count after a newer one.
    package var outcomes: [String: NotificationResult] {
        var latest: [String: NotificationResult] = [:]
        for step in steps {
            guard case .settled(let result) = step.kind, let name = result.pushService else { continue }
            if let known = latest[name], (known.replays, known.completedAt) > (result.replays, result.completedAt) {
                continue
            }
            latest[name] = result
        }
        return latest
    }

    /// The results of a push service's latest publication, the earliest first: more than one when it was repeated.
    func results(of pushService: String) -> [NotificationResult] {
        guard let latest = outcomes[pushService] else { return [] }
        return steps.compactMap { step in
            guard case .settled(let result) = step.kind, result.pushService == pushService,
                result.replays == latest.replays
            else { return nil }
            return result
        }.sorted { $0.completedAt < $1.completedAt }
    }

    /// What the hub said of the message with this id.
    func feedback(on backendID: String) -> NotificationFeedback? {
        for step in steps.reversed() {
            if case .reported(let feedback) = step.kind, feedback.backendID == backendID { return feedback }
        }
        return nil
    }

    /// How often it was replayed, as far as it is recorded.
    package var replays: Int {
        steps.reduce(0) { highest, step in
            switch step.kind {
            case .replayed(let number, _): max(highest, number)
            case .settled(let result): max(highest, result.replays)
            default: highest
            }
        }
    }

    /// The push services that the newest publication is for and that have no outcome of it yet.
    package var open: [String] {
        let outcomes = outcomes
        let replays = replays
        return wanted.filter { name in outcomes[name].map { $0.replays < replays } ?? true }
    }

    /// The push services of dead letters that nothing was done about.
    package var lettersLeft: [String] {
        outcomes.filter { $1.outcome.hasDeadLetter && letter(of: $0)?.fate?.isOpen ?? false }.keys.sorted()
    }

    /// Whether outcomes may lie in other partitions than that of the user's key: they have the key of their request.
    var mayHaveEndedElsewhere: Bool { !open.isEmpty && !isMalformed && fault?.isOfKey == true }

    /// The push services of the newest publication.
    private var wanted: [String] {
        for step in steps.reversed() {
            if case .replayed(_, let names) = step.kind, !names.isEmpty { return names }
        }
        return pushServices
    }

    /// Whether its newest publication was refused as a whole, because it does not decode.
    package var isMalformed: Bool { refusal == replays }

    /// How often it had been replayed when it was refused as a whole last; `nil` when it never was.
    var refusal: Int? {
        steps.compactMap { step -> Int? in
            if case .settled(let result) = step.kind, result.pushService == nil { result.replays } else { nil }
        }.max()
    }

    /// Whether there is a dead letter of which something can be told.
    var hasLetters: Bool { steps.contains { $0.letter != nil } }

    /// Says of each dead letter what became of it.
    ///
    /// - Parameter marks: what was done about dead letters.
    package mutating func settleFates(_ marks: MarkIndex) {
        var outcomes = ReplayOutcomes()
        for step in steps { if case .settled(let result) = step.kind { outcomes.add(result) } }
        for index in steps.indices {
            guard let letter = steps[index].letter else { continue }
            steps[index].fate = LetterFate(of: letter, marks, outcomes)
        }
    }

    /// The calls for a push service that were not the last word, as far as records tell.
    func calls(of pushService: String) -> [AttemptEntry] {
        steps.compactMap { step in
            if case .called(let call) = step.kind, call.pushService == pushService { call } else { nil }
        }
    }

    /// The newest dead letter that this push service was part of, or the whole event.
    func letter(of pushService: String?) -> TimelineStep? {
        steps.last { step in
            guard case .deadLettered = step.kind else { return false }
            guard let pushService, let names = step.letter?.pushServices, !names.isEmpty else { return true }
            return names.contains(pushService)
        }
    }

    package typealias Delay = (
        record: Origin, reason: String?, detail: String?, until: WallTime?, pushServices: [String], at: WallTime
    )

    /// The newest record of a delay topic that is not followed by anything, with what it waits for.
    package var delay: Delay? {
        for step in steps.reversed() {
            switch step.kind {
            case .delayed(let reason, let detail, let until, let names):
                guard names.isEmpty || !Set(names).isDisjoint(with: open) else { return nil }
                return (step.record, reason, detail, until, names, step.at)
            case .replayed: return nil
            case .published, .called, .settled, .deadLettered, .reported: continue
            }
        }
        return nil
    }

    /// Where it lies for the workers: in a delay topic, or where it was published last.
    var waitingRecord: Origin {
        delay?.record ?? lastPublication ?? origin
    }

    /// Where it was published last, by its publisher or by a replay.
    var lastPublication: Origin? {
        steps.last { step in
            switch step.kind {
            case .published, .replayed: true
            case .called, .delayed, .deadLettered, .settled, .reported: false
            }
        }?.record
    }

    /// The newest record of the dead-letter topic about it.
    package var deadLetter: (record: Origin, reason: DeadLetterReason, detail: String?)? {
        for step in steps.reversed() {
            if case .deadLettered(let reason, let detail, _) = step.kind { return (step.record, reason, detail) }
        }
        return nil
    }

    mutating func learn(_ names: [String]) {
        for name in names where !pushServices.contains(name) { pushServices.append(name) }
    }

    mutating func add(_ step: TimelineStep) {
        if isKnown(step) { return }
        // Where the request is gone, a retry alone may tell of a push service.
        if case .delayed(_, _, _, let names) = step.kind { learn(names) }
        steps.append(step)
        if steps.count > 2 * Self.stepLimit { settleOrder() }
    }

    /// Each retry repeats the calls before it.
    private func isKnown(_ step: TimelineStep) -> Bool {
        guard case .called(let call) = step.kind else { return false }
        return steps.contains { if case .called(let known) = $0.kind { known == call } else { false } }
    }

    private mutating func noteWaits() {
        for index in steps.indices {
            guard case .settled(let result) = steps[index].kind, let first = result.firstAttemptAt,
                let service = result.pushService
            else { continue }
            steps[index].hasWaited = steps[..<index].contains { step in
                guard case .delayed(_, _, _, let services) = step.kind else { return false }
                return step.at >= first && (services.isEmpty || services.contains(service))
            }
        }
    }

    mutating func settleOrder() {
        steps.sort { ($0.at, $0.rank, $0.record.offset) < ($1.at, $1.rank, $1.record.offset) }
        noteWaits()
        guard steps.count > Self.stepLimit else { return }
        droppedCount += steps.count - Self.stepLimit
        // What it is stays, and the newest.
        steps.removeSubrange(1...(steps.count - Self.stepLimit))
    }
}
