import HeraldEvents
import HeraldText
import HeraldTools
import Testing

@testable import HeraldTimeline

@Suite("What a recall of an event finds")
struct RecallScopeTests {
    private static func scope(_ steps: [TimelineStep], source: String? = "shop", unread: [String] = []) throws
        -> RecallScope
    {
        var found = TimelineSearch.Found(timelines: steps.isEmpty ? [] : [try Sample.event(steps)])
        found.unread = unread
        return RecallScope(found, source: source)
    }

    @Test("It counts the push services without an outcome, and names the outcomes of the others")
    func counts() throws {
        let scope = try Self.scope([Sample.published(), Sample.settled(1, "gcm")])
        #expect(scope.left == 1)
        #expect(
            scope.sentences == ["order-17: apns has no outcome yet; gcm: delivered at \(Sample.at(1).text)."])
        #expect(
            scope.json.compact == #"{"left":1,"open":["apns"],"outcomes":{"gcm":"delivered"},"isWhole":true}"#)
    }

    @Test("A dead letter has its outcome, and its replays are recalled too")
    func deadLetter() throws {
        let scope = try Self.scope([
            Sample.published(), Sample.settled(1, "gcm"), Sample.settled(2, "apns", .deadLettered), Sample.dead(2),
        ])
        #expect(scope.left == 0)
        #expect(scope.sentences[0].contains("dead-lettered at \(Sample.at(2).text) (a replay ends as suppressed)"))
    }

    @Test("An event with another source is not meant, and that is said")
    func otherSource() throws {
        let scope = try Self.scope([Sample.published()], source: nil)
        #expect(scope.left == 0)
        #expect(scope.sentences[0] == "It was not found. One that comes later ends as suppressed.")
        #expect(
            scope.sentences[1]
                == "Another event with this id and user has the source shop, and is not recalled with this one.")
    }

    @Test("What was not read is named, and nothing is claimed of it")
    func gaps() throws {
        let scope = try Self.scope([], unread: ["the rest"])
        #expect(scope.sentences[0].hasPrefix("It was not found."))
        #expect(scope.sentences[1] == "Not read: the rest.")
        #expect(scope.json.compact.contains(#""isWhole":false"#))
    }
}
