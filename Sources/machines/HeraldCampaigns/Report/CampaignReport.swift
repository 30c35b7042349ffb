package import HeraldEvents
package import HeraldTime

/// What is reported of a campaign, from its results one after the other, in bounded memory: pure.
package struct CampaignReport: Sendable {
    package struct Failure: Hashable, Sendable {
        package var outcome: Outcome
        /// The record's: of a dead letter, or of a suppression.
        package var reason: String?
        package var status: Int?
        /// The push service; `nil` when the event failed as a whole.
        package var pushService: String?
    }

    /// Push services are the settings' own, but other programs may write into the topic, too.
    private static let mostFailures = 500
    private static let mostRecovered = 1_000_000
    /// Moments further from the campaign's own time come from no real clock.
    private static let clockDifference: Milliseconds = .days(1)

    package let pushServices: [String]
    private let earliest: Int64
    private let latest: Int64
    private var recovered: Set<Int> = []

    package private(set) var count = OutcomeCount()
    package private(set) var timeline = OutcomeTimeline()
    /// How often something failed in which way; replays aside.
    package private(set) var failures: [Failure: Int] = [:]
    package private(set) var otherFailures = 0
    /// What was said of the first failure of each way, in the backend's words where it was called.
    package private(set) var details: [Failure: String] = [:]
    /// The calls that were made, as far as results say it.
    package private(set) var attempts = 0
    /// How many delivered notifications lacked a part, by push service.
    package private(set) var omitted: [ContentField: [String: Int]] = [:]
    /// Whom the backend has taken a notification for, on one push service at least, a replay's too.
    package private(set) var people = People()

    /// A report of nothing yet.
    ///
    /// - Parameter now: moments of results far behind it are not drawn.
    package init(_ definition: CampaignDefinition, now: WallTime) {
        pushServices = definition.pns
        earliest = definition.startedAt - Self.clockDifference.count
        latest = now.milliseconds + Self.clockDifference.count
    }

    /// Takes a result of the campaign.
    package mutating func add(_ result: NotificationResult) {
        count.add(result, pushServices: pushServices)
        attempts += result.attempts ?? 0
        if result.outcome.standing == .reached, let user = result.user { people.mark(user, .reached) }
        if let service = result.pushService, pushServices.contains(service) {
            for field in result.omitted.fields { omitted[field, default: [:]][service, default: 0] += 1 }
        }
        let outcomes = result.pushService == nil ? max(1, pushServices.count) : 1
        if result.replays > 0 {
            if result.outcome.standing == .reached { noteRecovery(result, outcomes) }
            return
        }
        switch result.outcome.standing {
        case .reached: note(result) { $0.delivered += outcomes }
        case .failed:
            note(result) { $0.failed += outcomes }
            noteFailure(result, outcomes)
        case .ended:
            note(result) { $0.ended += outcomes }
            noteFailure(result, outcomes)
        case .repeated: break
        }
    }

    /// Whether the result says that its notification was not delivered, and no replay has delivered it since.
    package func isUnreached(_ result: NotificationResult) -> Bool {
        result.outcome.isUnreached && !isRecovered(result)
    }

    /// Whether a replay has delivered what this result says has failed.
    private func isRecovered(_ result: NotificationResult) -> Bool { recovered.contains(Self.identity(result)) }

    package var sortedFailures: [(failure: Failure, count: Int)] {
        failures.map { ($0.key, $0.value) }.sorted { left, right in
            left.1 != right.1 ? left.1 > right.1 : Self.order(left.0) < Self.order(right.0)
        }
    }

    private static func order(_ failure: Failure) -> String {
        "\(failure.outcome) \(failure.reason ?? "") \(failure.status ?? 0) \(failure.pushService ?? "")"
    }

    private mutating func note(_ result: NotificationResult, _ change: (inout OutcomeTimeline.Span) -> Void) {
        guard (earliest...max(earliest, latest)).contains(result.completedAt.milliseconds) else { return }
        timeline.add(at: result.completedAt, change)
    }

    private mutating func noteFailure(_ result: NotificationResult, _ outcomes: Int) {
        let failure = Failure(
            outcome: result.outcome, reason: result.reasonName, status: result.status, pushService: result.pushService)
        if failures[failure] == nil, failures.count >= Self.mostFailures {
            otherFailures += outcomes
        } else {
            failures[failure, default: 0] += outcomes
            if details[failure] == nil { details[failure] = result.detail }
        }
    }

    private mutating func noteRecovery(_ result: NotificationResult, _ outcomes: Int) {
        note(result) { $0.recovered += outcomes }
        if recovered.count < Self.mostRecovered { recovered.insert(Self.identity(result)) }
    }

    /// 64 bits of a keyed hash: what two results of the same event and push service have in common.
    private static func identity(_ result: NotificationResult) -> Int {
        var hasher = Hasher()
        hasher.combine(result.id)
        hasher.combine(result.user)
        hasher.combine(result.pushService)
        return hasher.finalize()
    }
}

extension CampaignReport {
    /// What delivered notifications lacked, such as `40 notifications were delivered without title (20 on apns, 20 on
    /// gcm): …`.
    package var omissions: [String] {
        ContentField.allCases.compactMap { field in
            guard let counts = omitted[field] else { return nil }
            let parts = pushServices.compactMap { name in
                counts[name].map { "\(CampaignWords.number($0)) on \(name)" }
            }
            let all = counts.values.reduce(0, +)
            return "\(CampaignWords.counted(all, "notification")) \(all == 1 ? "was" : "were") delivered without "
                + "\(field.rawValue) (\(parts.joined(separator: ", "))): backend.body was text, or the push service has no "
                + "place for it."
        }
    }
}
