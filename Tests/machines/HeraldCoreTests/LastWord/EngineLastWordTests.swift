import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("The user's last word")
struct EngineLastWordTests {
    private static let maxLag = Milliseconds.seconds(5)
    private static let promotional = #","class":"promotional""#
    private static let shop = #","class":"promotional","source":"shop""#

    private let word = LastWord(hashSeed: 7, pushServices: .standard, maxLag: maxLag)

    /// An engine whose bulk topic is promotional, beside a table that is current.
    private func harness(
        isCurrent: Bool = true, _ change: (inout EngineConfiguration) -> Void = { _ in }
    ) -> EngineHarness {
        let harness = EngineHarness {
            $0.hashSeed = 7
            $0.lastWord = word
            $0.classes = [.transactional, .promotional]
            change(&$0)
        }
        if isCurrent { noteCurrent(harness) }
        return harness
    }

    private func noteCurrent(_ harness: EngineHarness) { word.noteCurrent(asOf: harness.now.monotonic) }

    private func say(_ user: String, _ change: (inout OptOut) -> Void = { _ in }) {
        var optOut = OptOut()
        change(&optOut)
        word.set(optOut, of: user.utf8.span.bytes)
    }

    private func recall(
        _ id: String, of user: String, source: String? = nil, _ isRecalled: Bool = true, words: String = ""
    ) {
        if let source {
            word.recall(
                id: id.utf8.span.bytes, source: source.utf8.span.bytes, user: user.utf8.span.bytes, isRecalled,
                words: words)
        } else {
            word.recall(id: id.utf8.span.bytes, source: nil, user: user.utf8.span.bytes, isRecalled, words: words)
        }
    }

    // MARK: Opt-outs

    @Test("that is an opt-out of all ends every event, with one result for each push service and no dead letter")
    func all() {
        let harness = harness()
        say("ann") { $0.isOfAll = true }
        harness.event("ann", "apns,gcm")
        harness.event("ann", on: EngineHarness.bulk)
        harness.event("bob")
        #expect(harness.usersInFlight == ["bob"])
        #expect(
            harness.result(at: 0).contains(#""outcome":"suppressed","reason":"opted-out","detail":"opted out of all""#))
        #expect(
            harness.takeSummaries() == [
                "result apns suppressed", "result gcm suppressed", "result apns suppressed",
            ])
        #expect(harness.engine.counters.notifications(.suppressed, service: 0) == 2)
        #expect(harness.engine.counters.calls == 1)
    }

    @Test("that is an opt-out of promotional ends promotional events alone")
    func promotional() {
        let harness = harness()
        say("ann") { $0.isOfPromotional = true }
        harness.event("ann")
        harness.answer(200)
        harness.event("ann", more: Self.promotional)
        harness.event("ann", on: EngineHarness.bulk)
        #expect(harness.calls.isEmpty)
        #expect(harness.result(at: 1).contains(#""detail":"opted out of promotional""#))
        #expect(
            harness.summaries == ["result apns delivered", "result apns suppressed", "result apns suppressed"])
    }

    @Test(
        "that is an opt-out of one push service leaves the event's others, in both classes",
        arguments: ["gcm", "fcm", "GCM"])
    func pushService(name: String) {
        let harness = harness()
        say("ann") { $0.pushServices = [name, "elsewhere"] }
        harness.event("ann", "apns,gcm")
        #expect(harness.calls.map(\.service) == [0])
        harness.answer(200)
        #expect(harness.result(at: 1).contains(#""detail":"opted out of pns:gcm""#))
        #expect(harness.takeSummaries() == ["result apns delivered", "result gcm suppressed"])
    }

    @Test("that is an opt-out of a source ends its promotional events")
    func source() {
        let harness = harness()
        say("ann") { $0.sources = ["shop", "news"] }
        harness.event("ann", more: #","source":"shop""#)
        harness.answer(200)
        harness.event("ann", more: Self.shop)
        harness.event("ann", more: #","class":"promotional","source":"bank""#)
        harness.answer(200)
        harness.event("ann", more: Self.promotional)
        harness.answer(200)
        #expect(harness.result(at: 1).contains(#""detail":"opted out of source:shop""#))
        #expect(
            harness.summaries == [
                "result apns delivered", "result apns suppressed", "result apns delivered", "result apns delivered",
            ])
    }

    @Test("on an event that calls itself transactional in a promotional topic counts as on a promotional one")
    func stricter() {
        let harness = harness()
        say("ann") { $0.isOfPromotional = true }
        harness.event("ann", on: EngineHarness.bulk, more: #","class":"transactional""#)
        harness.event("ann", more: #","class":"transactional""#)
        #expect(harness.takeSummaries() == ["result apns suppressed"])
        #expect(harness.calls.count == 1)
    }

    @Test("holds for a retry by the class of the topic that it was published to")
    func retryOfPromotional() {
        let harness = harness()
        say("ann") { $0.isOfPromotional = true }
        for topic in ["notifications.bulk", "notifications"] {
            harness.event(
                "ann", on: EngineHarness.oneSecond,
                headers: [
                    ("herald-attempts", "1"), ("herald-not-before", "\(harness.time)"),
                    ("herald-origin", "\(topic)/0/7"),
                ], stamped: harness.time - 1_000)
        }
        #expect(harness.summaries == ["result apns suppressed"])
        #expect(harness.calls.count == 1)
    }

    @Test("is named in a result by its offset: that of the last call's beginning, or of the suppression")
    func preferencesOffset() throws {
        let harness = harness()
        func result(at index: Int) throws -> NotificationResult {
            try NotificationResult(decoding: Array(harness.result(at: index).utf8))
        }
        harness.event("ann")
        harness.answer(200)
        #expect(try result(at: 0).preferencesOffset == nil)
        word.notePreferences(before: 3)
        let first = harness.now.wall
        harness.event("ann")
        word.notePreferences(before: 7)
        harness.answer(503)
        harness.pass(.seconds(1))
        let second = harness.now.wall
        word.notePreferences(before: 9)
        harness.answer(200)
        #expect(try result(at: 1).preferencesOffset == 7)
        #expect(try result(at: 1).lastAttemptAt.map { first < $0 && $0 <= second } ?? false)
        say("ann") { $0.isOfAll = true }
        harness.event("ann")
        #expect(try result(at: 2).preferencesOffset == 9)
        #expect(try result(at: 2).lastAttemptAt == nil)
        word.notePreferences(before: nil)
        harness.event("bob")
        harness.answer(200)
        #expect(try result(at: 3).preferencesOffset == nil)
        #expect(try result(at: 3).lastAttemptAt == nil)
    }

    @Test("is asked before each call: a quick retry and a waiting call end by what was said meanwhile")
    func meanwhile() {
        let harness = harness { $0.maxInFlight = 1 }
        harness.event("ann")
        harness.event("bob")
        #expect(harness.usersInFlight == ["ann"])
        say("bob") { $0.isOfAll = true }
        say("ann") { $0.isOfAll = true }
        harness.answer(503)
        harness.pass(.seconds(1))
        #expect(harness.calls.isEmpty)
        #expect(harness.produced.map(\.production.attempts) == [0, 1])
        #expect(harness.takeSummaries() == ["result apns suppressed", "result apns suppressed"])
        say("ann")
        word.set(nil, of: "bob".utf8.span.bytes)
        for user in ["ann", "bob"] {
            harness.event(user)
            #expect(harness.usersInFlight == [user])
            harness.answer(200)
        }
    }

    @Test("keeps the order: the user's next event is called behind a suppressed one")
    func order() {
        let harness = harness()
        harness.event("ann")
        harness.event("ann", more: Self.promotional)
        harness.event("ann")
        say("ann") { $0.isOfPromotional = true }
        harness.answer(200)
        #expect(harness.usersInFlight == ["ann"])
        #expect(harness.takeSummaries() == ["result apns delivered", "result apns suppressed"])
    }

    @Test("on an event that comes again makes that a duplicate")
    func duplicate() {
        let harness = harness {
            $0.duplicateWindow = .seconds(600)
            $0.duplicateSize = 100
        }
        say("ann") { $0.isOfAll = true }
        let json = #"{"id":"1","user":"ann","message":"m","pns":"apns"}"#
        harness.record(json)
        say("ann")
        harness.record(json)
        #expect(harness.calls.isEmpty)
        #expect(harness.result(at: 1).contains(#""outcome":"duplicate","firstOutcome":"suppressed""#))
    }

    @Test("passes over the probes of an outage, which go to somebody else")
    func probe() {
        let harness = harness()
        harness.event("ann")
        harness.answer(CallResult(failure: .tls))
        say("ann") { $0.isOfAll = true }
        harness.pass(.seconds(2))
        #expect(harness.calls.isEmpty && harness.engine.outage != nil)
        #expect(harness.takeSummaries() == ["result apns suppressed"])
        harness.event("bob")
        harness.pass(.seconds(2))
        #expect(harness.usersInFlight == ["bob"])
        harness.answer(200)
        #expect(harness.engine.outage == nil)
    }

    @Test("passes over the probes of a held push service")
    func holdProbe() throws {
        let harness = harness { $0.maxInFlight = 64 }
        let wns = try #require(PushServices.standard.names.firstIndex(of: "wns"))
        func answerAll() {
            while !harness.calls.isEmpty {
                let token = harness.takeCall()
                harness.answer(token, CallResult(status: Int(token.service) == wns ? 404 : 200))
            }
        }
        var users: [String] = []
        for second in 0..<60 where harness.engine.holds.isEmpty {
            for number in 0..<4 {
                users.append("w\(second)-\(number)")
                harness.event("a\(second)-\(number)", "apns")
                harness.event(users[users.count - 1], "wns")
            }
            answerAll()
            harness.pass(.milliseconds(500))
            answerAll()
        }
        #expect(!harness.engine.holds.isEmpty)
        harness.event("x", "wns")
        for user in users + ["x"] { say(user) { $0.isOfAll = true } }
        answerAll()
        _ = harness.takeSummaries()
        for _ in 0..<20 {
            harness.pass(.milliseconds(500))
            #expect(harness.calls.isEmpty)
        }
        #expect(harness.takeSummaries().contains("result wns suppressed"))
        harness.event("y", "wns")
        harness.pass(.seconds(2))
        #expect(harness.usersInFlight == ["y"])
        harness.answer(200)
        #expect(harness.engine.holds.isEmpty)
    }

    // MARK: Recalls

    @Test("or a recall of an event ends it by its id, source and user, whenever it comes, replays included")
    func recalled() {
        let harness = harness()
        recall("1", of: "ann", source: "shop", words: "ops: wrong price")
        func event(_ id: String, _ user: String, _ source: String?, headers: [(String, String)] = []) {
            let source = source.map { #","source":"\#($0)""# } ?? ""
            harness.record(
                #"{"id":"\#(id)","user":"\#(user)","message":"m","pns":"apns"\#(source)}"#, headers: headers)
        }
        event("1", "ann", "shop")
        event("1", "ann", "shop", headers: [("herald-replays", "1"), ("herald-origin", "notifications/0/0")])
        #expect(harness.calls.isEmpty)
        #expect(
            harness.result(at: 0).contains(
                #""outcome":"suppressed","reason":"recalled","detail":"recalled by ops: wrong price""#))
        #expect(harness.result(at: 1).contains(#""replays":1"#))
        #expect(harness.takeSummaries() == ["result apns suppressed", "result apns suppressed"])
        event("1", "ann", nil)
        event("1", "bob", "shop")
        event("2", "ann", "shop")
        #expect(harness.usersInFlight == ["ann", "bob"])
        while !harness.calls.isEmpty { harness.answer(200) }
        recall("1", of: "ann", source: "shop", false)
        recall("1", of: "ann")
        _ = harness.takeSummaries()
        event("1", "ann", "shop")
        #expect(harness.usersInFlight == ["ann"])
        harness.answer(200)
        event("1", "ann", nil)
        #expect(harness.result(at: 1).contains(#""detail":"recalled""#))
        #expect(harness.takeSummaries() == ["result apns delivered", "result apns suppressed"])
    }

    @Test("or a recall of a campaign ends its events, and a withdrawn one does not")
    func campaign() {
        let harness = harness()
        word.recall(campaign: "spring".utf8.span.bytes, true, words: "ops")
        let spring = #","campaign":"spring""#
        harness.event("ann", more: spring)
        harness.event("bob", more: #","campaign":"autumn""#)
        #expect(harness.usersInFlight == ["bob"])
        #expect(harness.result(at: 0).contains(#""detail":"recalled by ops""#))
        #expect(harness.takeSummaries() == ["result apns suppressed"])
        word.recall(campaign: "spring".utf8.span.bytes, false)
        harness.event("ann", more: spring)
        #expect(harness.usersInFlight == ["bob", "ann"])
        #expect(word.recalls == 0)
    }

    @Test("counts for nothing in the share of failures at which a campaign is paused")
    func campaignFailures() {
        let harness = harness()
        harness.campaign("c", is: .running, pauseIfFailures: 0.5)
        word.recall(campaign: "c".utf8.span.bytes, true)
        for number in 0..<300 {
            harness.event("u\(number)", more: #","campaign":"c""#)
            harness.acknowledgeAll()
        }
        #expect(harness.engine.counters.notifications(.suppressed, service: 0) == 300)
        #expect(harness.takeOthers().isEmpty)
    }

    // MARK: When the words are not known

    @Test("that is not known yet holds promotional events, and calls transactional ones")
    func unknown() {
        let harness = harness(isCurrent: false)
        harness.event("ann")
        harness.event("bob", "apns,gcm", more: Self.promotional)
        #expect(harness.usersInFlight == ["ann"])
        #expect(harness.headers(at: 0)["herald-detail"] == "the users' latest preferences are not known")
        #expect(harness.takeSummaries() == ["retry 1s apns,gcm preferences 0"])
        #expect(harness.engine.counters.retries(.preferences) == 1)
        say("cid") { $0.isOfAll = true }
        harness.event("cid")
        #expect(harness.takeSummaries() == ["result apns suppressed"], "what is known counts")
    }

    @Test("that is too old holds promotional events for about as long as it is old, until it is current again")
    func behind() {
        let harness = harness()
        harness.pass(Self.maxLag)
        harness.event("ann", more: Self.promotional)
        #expect(harness.usersInFlight == ["ann"], "exactly preferences.maxLag is allowed")
        harness.pass(.seconds(7))
        harness.event("bob", more: Self.promotional)
        #expect(harness.produced.map { ($0.production.dueAt?.milliseconds ?? 0) - harness.time } == [12_000])
        #expect(harness.takeSummaries() == ["retry 10s apns preferences 0"])
        let headers = [
            ("herald-attempts", "0"), ("herald-not-before", "\(harness.time)"),
            ("herald-origin", "notifications.bulk/0/7"),
        ]
        harness.event("cid", on: EngineHarness.tenSeconds, headers: headers, stamped: harness.time - 10_000)
        #expect(harness.takeSummaries() == ["retry 10s apns preferences 0"])
        noteCurrent(harness)
        harness.event("cid", on: EngineHarness.tenSeconds, headers: headers, stamped: harness.time - 10_000)
        #expect(harness.usersInFlight == ["ann", "cid"])
        harness.answer(200)
        harness.answer(200)
        #expect(harness.produced.map(\.production.attempts) == [1, 1], "a hold is no attempt")
    }

    @Test("that is not known holds promotional events in memory without retry topics, and says so")
    func inMemory() throws {
        let harness = harness(isCurrent: false) {
            $0.retryDelays = []
            $0.retry = RetryPolicy(immediate: 1, delays: [])
        }
        guard case .accepted(let id) = harness.event("ann", more: Self.promotional) else { return }
        func reason() -> WaitReason? {
            harness.engine.waits(of: id.index, now: harness.now) { _ in ("", "") }.first?.reason
        }
        #expect(
            reason() == .preferencesBehind(since: nil, until: WallTime(milliseconds: harness.time + 1_000)))
        harness.pass(.seconds(3))
        #expect(harness.calls.isEmpty && reason()?.kind == .preferencesBehind)
        noteCurrent(harness)
        harness.pass(.seconds(1))
        #expect(harness.usersInFlight == ["ann"])
    }

    @Test("does not keep an event that is held beyond its expiry")
    func expiry() {
        let harness = harness(isCurrent: false)
        let headers = [("herald-not-before", "\(harness.time)"), ("herald-origin", "notifications.bulk/0/7")]
        harness.event(
            "ann", on: EngineHarness.oneSecond, more: #","expiresAt":"1970-01-12T13:46:40Z""#, headers: headers,
            stamped: harness.time - 1_000)
        #expect(harness.summaries == ["result apns expired", "dead apns expired 0"])
    }

    @Test("is not asked for when nobody wants it")
    func off() {
        let harness = EngineHarness { $0.classes = [.promotional, .promotional] }
        harness.event("ann", more: Self.promotional)
        #expect(harness.usersInFlight == ["ann"])
    }
}
