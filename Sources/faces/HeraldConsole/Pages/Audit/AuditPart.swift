internal import HeraldEvents
internal import HeraldKafka
internal import HeraldReplay
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// The *Audit* page: the actions with their person, time and reason, newest first.
final class AuditPart: ConsolePart {
    private let replay: ReplayContext
    private let timeline: TimelineContext

    init(_ context: ConsoleContext) {
        replay = context.replay
        timeline = context.timeline
    }

    var routes: [ConsoleRoute] { [.get("/api/audit") { [self] in try page($0) }] }

    private func page(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        var filter = AuditFilter(who: request.text("who"), what: request.text("what"))
        filter.since = try request.text("since").map {
            try MomentText.parse($0, name: "since", now: SystemClock.wall())
        }
        let place = try request.text("before").map { try AuditPager.Place($0) }
        let name = replay.topics.audit
        guard let topic = try timeline.reach.topics([name], timeline.admin).topics.first else {
            throw ToolFailure("the cluster does not say whether there is a topic \(name)")
        }
        if let error = topic.error { throw ToolFailure(topic: name, error, allow: .read) }
        let reader = try AuditReader(
            properties: replay.readerProperties, topic: name, partitions: topic.partitions.map(\.id))
        defer { reader.close() }
        var pager = AuditPager(filter, ranges: try reader.ranges(), from: place)
        let page = try pager.page(reader.records)
        let answer: JSONValue = [
            "entries": .array(page.records.map(\.json)), "searched": .integer(page.searchedCount),
            "next": .text(page.next?.text),
        ]
        return .json(answer.safe)
    }
}
