import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@Suite("Topics, delays and push services")
struct TopicsTests {
    @Test(
        "A delay is a whole number and a unit, kept as written",
        arguments: [
            ("500ms", 500), ("5s", 5_000), ("30s", 30_000), ("5m", 300_000), ("2h", 7_200_000), ("1d", 86_400_000),
            ("60s", 60_000), ("365d", 31_536_000_000),
        ] as [(String, Int64)])
    func delays(text: String, milliseconds: Int64) {
        let delay = DelayName(text)
        #expect(delay?.length == .milliseconds(milliseconds))
        #expect(delay?.description == text)
    }

    @Test(
        "Any other text is not a delay",
        arguments: [
            "", "5", "s", "0s", "05s", "-5s", "+5s", "5 s", "5S", "1.5h", "5us", "1w", "366d", "99999999999999999999s",
            "5s5m", "٥s", "5m ",
        ])
    func noDelay(text: String) {
        #expect(DelayName(text) == nil)
    }

    @Test("A retry topic's name contains its delay, and no other topic's does")
    func retryTopics() throws {
        let topics = Topics()
        let delay = try #require(DelayName("30s"))
        #expect(topics.retryTopic(delay) == "notifications.retry.30s")
        #expect(topics.delay(ofTopic: "notifications.retry.30s") == delay)
        for name in [
            "notifications.retry", "notifications.retry.", "notifications.retry.x", "notifications.retryx30s",
            "notifications", "my.notifications.retry.30s", "notifications.retry.30s.old",
        ] {
            #expect(topics.delay(ofTopic: name) == nil)
        }
    }

    @Test("Workers read the retry topics of the settings and all others there are, the shortest delay first")
    func delaysOfTopics() throws {
        let configured = try ["5s", "30m"].map { try #require(DelayName($0)) }
        let existing = [
            "notifications", "notifications.retry.3m", "notifications.retry.30m", "notifications.retry.old",
            "x.retry.1s",
        ]
        #expect(Topics().delays(configured, among: existing).map(\.description) == ["5s", "3m", "30m"])
        #expect(Topics().delays(configured, among: []) == configured)
    }

    @Test("Topic names follow Kafka's rules")
    func names() {
        for name in ["a", "A-b_c.9", "...", String(repeating: "x", count: 249)] { #expect(Topics.isName(name)) }
        for name in ["", ".", "..", "a/b", "a b", "é", String(repeating: "x", count: 250)] {
            #expect(!Topics.isName(name))
        }
    }

    @Test("An origin is read in its written form")
    func origins() {
        let origin = Origin(topic: "a.b", partition: 3, offset: Int64.max)
        #expect(Origin(origin.description) == origin)
        for text in ["", "a", "a/1", "a/1/", "a//1", "a/1/1/1", "a/-1/1", "a/1/1 ", "a/1/9223372036854775808"] {
            #expect(Origin(text) == nil)
        }
    }

    @Test("Push services are lower-cased, and their aliases stand for them")
    func pushServices() throws {
        let services = try PushServices(names: ["APNS", "gcm"], aliases: ["FCM": "Gcm"])
        #expect(services.names == ["apns", "gcm"])
        #expect(services.aliases == ["fcm": 1])
        #expect(services.all == [0, 1])
        #expect(services.index(of: "fcM".utf8.span.bytes) == 1)
        #expect(services.index(of: "".utf8.span.bytes) == nil)
        var names: [UInt8] = []
        services.appendNames(of: services.all, to: &names)
        #expect(String(decoding: names, as: UTF8.self) == "apns,gcm")
    }

    @Test(
        "Contradictory push services are refused",
        arguments: [
            ([], [:]), (["a", "A"], [:]), (["a,b"], [:]), ([""], [:]), (["a b"], [:]), (["a"], ["b": "c"]),
            (["a", "b"], ["b": "a"]), (["a"], ["": "a"]), (["a"], ["b": "a", "B": "a"]),
            ((0..<65).map { "s\($0)" }, [:]),
        ] as [([String], [String: String])])
    func badPushServices(names: [String], aliases: [String: String]) {
        #expect(throws: InvalidArgument.self) { try PushServices(names: names, aliases: aliases) }
    }

    @Test("64 push services fit into a set")
    func sixtyFour() throws {
        let services = try PushServices(names: (0..<64).map { "s\($0)" })
        #expect(services.all.count == 64)
        #expect(Array(services.all) == Array(0..<64))
        var set = services.all
        set.remove(63)
        set.remove(64)
        set.insert(-1)
        #expect(set.count == 63)
        #expect(services.all.subtracting(set) == [63])
        #expect(set.isSubset(of: services.all))
        #expect(set.union([63]) == services.all)
        #expect(set.intersection([63, 2]) == [2])
    }

    @Test("Headers keep their order, their repeats and their nulls")
    func headers() {
        var list = HeaderList()
        list.append("a", "1")
        list.append("b", nil)
        list.append("a", "2")
        list.append("c", "")
        #expect(list.count == 4)
        #expect(list.firstIndex(named: "a") == 0)
        #expect(list.lastIndex(named: "a") == 2)
        #expect(list.firstIndex(named: "A") == nil)
        let hasNull = list.value(at: 1) == nil
        let hasEmpty = list.value(at: 3)?.byteCount == 0
        #expect(hasNull)
        #expect(hasEmpty)
        list.removeAll()
        #expect(list.count == 0)
    }
}
