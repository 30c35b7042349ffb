internal import HeraldEvents
package import HeraldText
internal import HeraldTime
internal import HeraldTools

/// What a plan comes to when it is carried out like this: its figures, and the time that it takes.
package struct ReplayForecast: Sendable {
    private let plan: ReplayPlan
    private let options: ReplayOptions
    private let outcomesPerSecond: Double?
    private let hasOutcomes: Bool

    /// - Parameters:
    ///   - outcomesPerSecond: how fast the workers have been.
    ///   - hasOutcomes: whether workers report what becomes of it.
    package init(_ plan: ReplayPlan, _ options: ReplayOptions, outcomesPerSecond: Double?, hasOutcomes: Bool = true) {
        self.plan = plan
        self.options = options
        self.outcomesPerSecond = outcomesPerSecond
        self.hasOutcomes = hasOutcomes
    }

    /// How long it takes, for people.
    package var words: String {
        if !hasOutcomes, let seconds {
            return
                "at least \(DurationText.format(.seconds(Int(saturating: seconds.rounded(.up))))), and the waits between batches"
        }
        if !hasOutcomes { return "as long as the brokers need, and the waits between batches; --rate bounds it" }
        guard let seconds else { return "as long as the workers need; --rate bounds it" }
        let time = DurationText.format(.seconds(Int(saturating: seconds.rounded(.up))))
        if let rate = options.rate { return "at least \(time) at \(Self.rate(rate)), and the waits for outcomes" }
        return "about \(time) if the workers are as fast as in the busiest minute of the last day "
            + "(\(Self.rate(outcomesPerSecond ?? 0)) outcomes); --rate bounds it"
    }

    private var seconds: Double? {
        if let rate = options.rate { return plan.seconds(at: rate) }
        return outcomesPerSecond.map { Double(plan.outcomeCount) / $0 }
    }

    private static func rate(_ rate: Double) -> String {
        rate.rounded() == rate ? "\(Int(saturating: rate))/s" : "\(Int(saturating: rate * 60))/m"
    }

    /// What to know of those that may have reached the person already; `nil` when there are none.
    package var doubt: String? {
        let count = plan.mayHaveArrived
        guard count > 0 else { return nil }
        let text =
            "\(count) may have arrived: a call for \(count == 1 ? "it" : "them") got no answer (time-out, reset). "
        guard plan.mayHaveArrivedUnrecognised == 0 else {
            return text + "With a fresh key the backend cannot recognise them: who got one is notified again"
        }
        return text + "A backend that honours the idempotency key sends nothing twice; another notifies again"
    }

    /// The plan as JSON, as `herald dlq replay --dry-run` writes it.
    package var members: [JSONValue.Member] {
        let leftOut = ReplayRules.Omission.allCases.compactMap { omission in
            plan.leftOut[omission].map { JSONValue.Member(omission.rawValue, .integer($0)) }
        }
        var members: [JSONValue.Member] = [
            .init("matched", .integer(plan.matched)), .init("planned", .integer(plan.count)),
            .init("notifications", .integer(plan.outcomeCount)),
            .init("leftOut", .object(leftOut)), .init("topics", Self.counts(plan.topics)),
            .init("pushServices", Self.counts(plan.pushServices)),
            .init("ends", Self.counts(plan.ends.mapValues { Int($0) })),
        ]
        if options.isAgain {
            let before = ReplayOutcomes.Outcome.allCases.map {
                JSONValue.Member($0.rawValue, .integer(plan.replayedBefore[$0] ?? 0))
            }
            members.append(.init("replayedBefore", .object(before)))
        }
        if let doubt {
            members += [.init("mayHaveArrived", .integer(plan.mayHaveArrived)), .init("doubt", .string(doubt))]
        }
        if let earliest = plan.earliest { members.append(.init("earliest", .string(earliest.text))) }
        if let latest = plan.latest { members.append(.init("latest", .string(latest.text))) }
        if let seconds { members.append(.init("seconds", .integer(Int(saturating: seconds.rounded(.up))))) }
        return members
    }

    private static func counts(_ counts: [String: Int]) -> JSONValue {
        .object(counts.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .integer($0.value)) })
    }
}

extension Correction.Corrected {
    /// What is said otherwise; of a message only how long it is.
    package var words: String {
        var parts: [String] = []
        if user.before != user.after { parts.append("user \(user.before ?? "(none)") → \(user.after)") }
        if pushServices.before != pushServices.after {
            let before = pushServices.before.isEmpty ? "(none)" : pushServices.before.joined(separator: ",")
            parts.append("pns \(before) → \(pushServices.after.joined(separator: ","))")
        }
        if isMessageChanged {
            let before = messageByteCount.before.map { "\($0) bytes" } ?? "(none)"
            parts.append("message \(before) → \(messageByteCount.after) bytes")
        }
        if !changedContent.isEmpty { parts.append("\(changedContent.map(\.rawValue).joined(separator: ", ")) changed") }
        return parts.isEmpty ? "neither user, pns nor message" : parts.joined(separator: ", ")
    }
}

extension ReplayPlan {
    /// For people: why these are left out, with the first mistake of those that are no events.
    package func words(of omission: ReplayRules.Omission) -> String {
        omission.words + (omission == .stillInvalid ? mistake.map { ": \($0)" } ?? "" : "")
    }
}

extension ReplayRules.Omission {
    /// For people: why.
    package var words: String {
        switch self {
        case .replayed: "replayed already (--again replays once more)"
        case .resolved: "resolved (--again replays nevertheless)"
        case .expired: "expired: too late to send"
        case .campaignCancelled: "their campaign was cancelled"
        case .campaignPaused: "their campaign is paused: resume it first (herald campaign resume)"
        case .overTheCap: "replayed as often as retry.replays allows"
        case .otherPushServices: "none of --only-pns failed"
        case .incomplete: "too large for their value or key to be kept: publish their requests (herald-origin) again"
        case .stillInvalid: "no event that a worker would take"
        case .unreadable: "no dead letters of Herald's"
        case .unknownOrigin: "do not say where they came from (--to names a topic)"
        case .forbiddenTopic: "came from this dead-letter topic, or from one that only Herald writes"
        case .otherTopic: "came from a topic that is not in topics.requests (--to names one)"
        }
    }
}
