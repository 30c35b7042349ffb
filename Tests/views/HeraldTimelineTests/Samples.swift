import HeraldEvents
import HeraldKernel
import HeraldReplay
import HeraldTime

@testable import HeraldTimeline

/// Sample steps and situations.
enum Sample {
    static let origin = Origin(topic: "notifications", partition: 3, offset: 1_742)
    static let identity = TimelineBuilder.Identity(
        id: "order-17", user: "ann", source: "shop", pushServices: ["apns", "gcm"])

    static func at(_ second: Int64) -> WallTime { WallTime(milliseconds: 1_800_000_000_000 + second * 1_000) }

    static func published(_ second: Int64 = 0, notBefore: WallTime? = nil, expiresAt: WallTime? = nil) -> TimelineStep {
        TimelineStep(
            at: at(second), kind: .published(notBefore: notBefore, expiresAt: expiresAt, content: []), record: origin)
    }

    static func called(_ second: Int64, _ service: String = "apns", status: Int = 503) -> TimelineStep {
        let call = AttemptEntry(at: at(second), pushService: service, status: status, duration: .milliseconds(12))
        return TimelineStep(at: at(second), kind: .called(call), record: origin)
    }

    static func delayed(
        _ second: Int64, until: Int64, _ reason: RetryReason = .transient, _ services: [String] = ["apns"],
        detail: String? = nil
    ) -> TimelineStep {
        TimelineStep(
            at: at(second),
            kind: .delayed(reason: reason.rawValue, detail: detail, until: at(until), pushServices: services),
            record: Origin(topic: "notifications.retry.30s", partition: 1, offset: 9))
    }

    static func settled(
        _ second: Int64, _ service: String?, _ outcome: Outcome = .delivered, replays: Int = 0,
        _ change: (inout NotificationResult) -> Void = { _ in }
    ) -> TimelineStep {
        let text = """
            {"outcome":"\(outcome.rawValue)","completedAt":"\(at(second).text)",\
            "origin":{"topic":"notifications","partition":3,"offset":1742}}
            """
        guard var result = try? NotificationResult(decoding: Array(text.utf8)) else { preconditionFailure(text) }
        result.pushService = service
        result.replays = replays
        change(&result)
        return TimelineStep(
            at: at(second), kind: .settled(result),
            record: Origin(topic: "notifications.results", partition: 0, offset: second))
    }

    static func reported(_ second: Int64, _ outcomes: [String: Int], state: String = "Completed") -> TimelineStep {
        guard case .settled(let result) = settled(second, "apns").kind else { preconditionFailure() }
        let feedback = NotificationFeedback(
            on: result, backendID: "NH-1", conclusion: .final, state: state, outcomes: outcomes, checkedAt: at(second))
        return TimelineStep(
            at: at(second), kind: .reported(feedback),
            record: Origin(topic: "notifications.feedback", partition: 0, offset: second))
    }

    static func dead(
        _ second: Int64, _ reason: DeadLetterReason = .rejected, detail: String = "no such tag",
        _ services: [String] = ["apns"], replays: Int = 0
    ) -> TimelineStep {
        TimelineStep(
            at: at(second), kind: .deadLettered(reason: reason, detail: detail, pushServices: services),
            record: Origin(topic: "notifications.dead-letter", partition: 2, offset: 17),
            letter: LetterFacts(partition: 2, offset: 17, origin: origin, pushServices: services, replays: replays))
    }

    static func replayed(_ second: Int64, _ number: Int, _ services: [String]) -> TimelineStep {
        TimelineStep(
            at: at(second), kind: .replayed(number: number, pushServices: services),
            record: Origin(topic: "notifications", partition: 3, offset: 2_000 + second))
    }

    /// The marks of a replay of the dead letter of ``dead(_:_:detail:_:replays:)``.
    static func marks(_ more: String = "", state: String = "replayed") -> MarkIndex {
        var index = MarkIndex()
        let text = #"{"state":"\#(state)","job":"j","at":7,\#(more)"partitions":{"2":"17"}}"#
        guard let mark = MarkRecord(decoding: Array(text.utf8)) else { preconditionFailure(text) }
        index.add(mark)
        return index
    }

    static func event(_ steps: [TimelineStep], _ identity: TimelineBuilder.Identity = identity) throws -> EventTimeline
    {
        var builder = TimelineBuilder(limit: 10, partitions: ["notifications": 100])
        builder.add(steps, to: origin, identity)
        return builder.timelines()[0]
    }

    static func situation(now: Int64 = 1_000, committed: Int64? = 5_000) -> Explanation.Situation {
        var situation = Explanation.Situation(
            now: at(now),
            retry: RetryPolicy(immediate: 2, delays: [.seconds(5), .seconds(30), .minutes(5)], maxElapsed: .hours(1)),
            delays: ["5s", "30s", "5m"].compactMap { DelayName($0) }, resultsTopic: "notifications.results",
            meaning: { $0 == 400 ? "rejected" : nil })
        situation.committedOffset = committed
        return situation
    }
}

extension WallTime {
    var text: String {
        var bytes: [UInt8] = []
        RFC3339.append(self, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
