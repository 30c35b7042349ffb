import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldConsole
@testable import HeraldTimeline

@Suite("A search in the console")
struct EventSearchTests {
    private func timelines(_ count: Int, user: String = "ann") -> [EventTimeline] {
        var builder = TimelineBuilder(limit: count, partitions: ["notifications": 100])
        for number in 0..<count {
            let origin = Origin(topic: "notifications", partition: 0, offset: Int64(number))
            builder.add(
                [
                    TimelineStep(
                        at: WallTime(milliseconds: Int64(number)),
                        kind: .published(notBefore: nil, expiresAt: nil, content: []),
                        record: origin)
                ], to: origin, .init(id: "order-\(number)", user: user, pushServices: ["apns"]))
        }
        return builder.timelines()
    }

    private func search(_ found: TimelineSearch.Found?) -> EventSearch {
        var query = TimelineQuery(user: "ann", id: nil)
        query.readsAllPartitions = true
        var search = EventSearch(query: query, since: "2d")
        search.found = found
        return search
    }

    @Test("While reading it shows its progress and the equivalent command")
    func reading() {
        var search = search(nil)
        (search.passed, search.total) = (5, 10)
        #expect(
            search.json.compact
                == #"{"state":"reading","passed":5,"total":10,"command":["herald","find","--user","ann","--since","2d","#
                + #""--all-partitions"]}"#)
    }

    @Test("The newest events come first, at most a page of them, each step with its words")
    func events() throws {
        let json = search(TimelineSearch.Found(timelines: timelines(130))).json
        guard case .array(let events)? = json["events"] else { throw Refused("no events", status: 0) }
        #expect(events.count == EventSearch.shownLimit && json["hidden"] == 30)
        #expect(events.first?["id"] == "order-129" && json["state"] == "done")
        guard case .array(let steps)? = events.first?["steps"] else { throw Refused("no steps", status: 0) }
        #expect(steps.first?["words"] == "published as notifications/0/129")
        #expect(steps.first?["step"] == "published")
    }

    @Test("Texts from records can control neither the page nor its reader")
    func hostile() {
        let json = search(TimelineSearch.Found(timelines: timelines(1, user: "\u{1B}[2J\u{202E}<img src=x>"))).json
        guard case .array(let events)? = json["events"] else { return #expect(Bool(false)) }
        #expect(events.first?["user"] == #"\u{1B}[2J\u{202E}<img src=x>"#)
    }

    @Test("Since is a time or an age, and nothing else")
    func moments() throws {
        let now = WallTime(milliseconds: 1_800_000_000_000)
        #expect(try MomentText.parse("2d", name: "since", now: now) == now.advanced(by: .days(-2)))
        #expect(try MomentText.parse("1970-01-01T00:00:01Z", name: "since", now: now).milliseconds == 1_000)
        #expect(throws: InvalidArgument.self) { try MomentText.parse("yesterday", name: "since", now: now) }
    }
}
