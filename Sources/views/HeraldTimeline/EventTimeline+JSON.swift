internal import HeraldEvents
internal import HeraldReplay
package import HeraldText
internal import HeraldTime
internal import HeraldTools

extension EventTimeline {
    /// It as `herald find -o json` has it; messages are not in it.
    package var json: JSONValue {
        .present(
            [
                .init("id", .text(id)), .init("user", .text(user)), .init("source", .text(source)),
                .init("campaign", .text(campaign)), .init("trace", .text(trace)), .init("origin", .string("\(origin)")),
                .init("publisherFault", .text(fault?.rawValue)),
                .init("pns", .array(pushServices.map(JSONValue.string))),
                .init("open", .array(isMalformed ? [] : open.map(JSONValue.string))),
                .init("replays", replays > 0 ? .integer(replays) : .null),
                .init("leftOut", droppedCount > 0 ? .integer(droppedCount) : .null),
                .init("steps", .array(steps.map(\.json))),
            ])
    }
}

extension TimelineStep {
    fileprivate var json: JSONValue {
        let own: [JSONValue.Member] =
            switch kind {
            case .published(let notBefore, let expiresAt, let content):
                [
                    .init("step", .string("published")), .init("notBefore", .text(notBefore?.text)),
                    .init("expiresAt", .text(expiresAt?.text)), .init("content", content.json),
                ]
            case .replayed(let number, let names):
                [.init("step", .string("replayed")), .init("replay", .integer(number)), names.member]
            case .called(let call):
                [
                    .init("step", .string("called")), [call.pushService].member,
                    .init("status", call.status.map(JSONValue.integer) ?? .null), .init("error", .text(call.error)),
                    .init("ms", .integer(Int(call.duration.count))),
                ]
            case .delayed(let reason, let detail, let until, let names):
                [
                    .init("step", .string("delayed")), names.member, .init("reason", .text(reason)),
                    .init("detail", .text(detail)), .init("until", .text(until?.text)),
                ]
            case .deadLettered(let reason, let detail, let names):
                [
                    .init("step", .string("dead-lettered")), names.member, .init("reason", .string(reason.rawValue)),
                    .init("detail", .text(detail)), .init("state", .text(fate?.state.rawValue)),
                    .init("replayOutcome", .text(fate?.outcome?.rawValue)),
                ]
            case .settled(let result):
                [
                    .init("step", .string("settled")), (result.pushService.map { [$0] } ?? []).member,
                    .init("outcome", .string(result.outcome.rawValue)),
                    .init("firstOutcome", .text(result.firstOutcome?.rawValue)),
                    .init("status", result.status.map(JSONValue.integer) ?? .null),
                    .init("reason", .text(result.reasonName)), .init("detail", .text(result.detail)),
                    .init("attempts", result.attempts.map(JSONValue.integer) ?? .null),
                    .init("firstAttemptAt", .text(result.firstAttemptAt?.text)),
                    .init("lastAttemptAt", .text(result.lastAttemptAt?.text)),
                    .init("preferencesOffset", result.preferencesOffset.map { .integer(Int($0)) } ?? .null),
                    .init("backendId", .text(result.backendID)), .init("omitted", result.omitted.json),
                    .init("quietIgnored", .text(result.quietIgnored?.rawValue)),
                ]
            case .reported(let feedback):
                [
                    .init("step", .string("reported")), (feedback.pushService.map { [$0] } ?? []).member,
                    .init("conclusion", .string(feedback.conclusion.rawValue)), .init("state", .text(feedback.state)),
                    .init(
                        "outcomes",
                        .object(
                            feedback.outcomes.sorted { $0.key < $1.key }.map { .init($0.key, .integer($0.value)) })),
                    .init("reached", .integer(feedback.reached)), .init("backendId", .string(feedback.backendID)),
                ]
            }
        return .present([.init("at", .string(at.text))] + own + [.init("record", .string("\(record)"))])
    }
}

extension [String] {
    /// The push services that a step is about.
    fileprivate var member: JSONValue.Member { .init("pns", .array(map(JSONValue.string))) }
}

extension ContentFields {
    /// The parts' names; null without one.
    fileprivate var json: JSONValue { isEmpty ? .null : .array(fields.map { .string($0.rawValue) }) }
}
