internal import HeraldText
internal import HeraldTimeline
internal import HeraldTools

/// The progress and results of a search.
struct EventSearch: Sendable {
    static let shownLimit = 100
    /// The number of events kept per partition, the newest.
    static let partitionLimit = 200

    let query: TimelineQuery
    /// As requested: a time or a duration.
    let since: String?
    var passed: Int64 = 0
    var total: Int64 = 0
    /// The results; `nil` while it reads.
    var found: TimelineSearch.Found?
    /// Which requests that may have been meant were deleted before they were read, in sentences; `nil` for none.
    var lostRequests: String?

    var command: [String] {
        var words = ["herald", "find"]
        if let user = query.user { words += ["--user", user] }
        if let id = query.id { words += ["--id", id] }
        if let since { words += ["--since", since] }
        if query.readsAllPartitions { words.append("--all-partitions") }
        return words
    }

    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("state", .string(found.map { $0.isPart ? "part" : "done" } ?? "reading")),
            .init("passed", .integer(Int(passed))), .init("total", .integer(Int(total))),
            .init("command", .words(command)),
        ]
        guard let found else { return .object(members) }
        let shown = found.timelines.suffix(Self.shownLimit)
        members += [
            // Newest first, because most questions are about the latest event.
            .init("events", .array(shown.reversed().map(Self.object))),
            .init("hidden", .integer(found.timelines.count - shown.count)), .init("isCut", .bool(found.isCut)),
            .init("gaps", .words(found.gaps)), .init("tombstones", .integer(found.tombstoneCount)),
            .init("isNarrow", .bool(found.isNarrow)), .init("unread", .words(found.unread)),
            .init("strayTopics", .words(found.strayTopics)), .init("grownTopics", .words(found.grownTopics)),
            .init("lost", .text(lostRequests)),
        ]
        return JSONValue.object(members).safe
    }

    /// The event in the command's form, with a description of each step.
    private static func object(_ event: EventTimeline) -> JSONValue {
        guard case .array(let steps)? = event.json["steps"] else { return event.json }
        let told = zip(steps, event.steps).map { $0.with("words", .string($1.words)) }
        return event.json.with("steps", .array(Array(told)))
    }
}
