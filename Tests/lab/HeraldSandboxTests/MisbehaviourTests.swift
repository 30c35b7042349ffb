import Foundation
import HeraldText
import HeraldTime
import TestSupport
import Testing

@testable import HeraldSandbox

@Suite("The reference backend's misbehaviour")
struct MisbehaviourTests {
    @Test("fails the first calls of each idempotency key and delivers afterwards")
    func retriedThenDelivered() throws {
        let (backend, client) = try SandboxClient.start {
            $0.misbehaviour = [
                .status(503) {
                    $0.callsPerKey = 2
                    $0.retryAfter = "7"
                }
            ]
        }
        try client.register("gcm", "h")
        for key in ["a:gcm", "b:gcm"] {
            for expected in [503, 503, 200, 200] {
                let answer = try client.notify("gcm", "ann", key: key)
                #expect(answer.status == expected)
                #expect(answer.headers["retry-after"] == (expected == 503 ? "7" : nil))
            }
        }
        #expect(try client.notify("gcm", "ann").status == 200)
        #expect(backend.payloads(ofHandle: "h").count == 5)
        #expect(backend.calls.map(\.status) == [503, 503, 200, 200, 503, 503, 200, 200, 200])
    }

    @Test("fails for the users, services and paths of a rule, for a number of calls, and leaves others alone")
    func matching() throws {
        let (backend, client) = try SandboxClient.start()
        backend.misbehave([
            .status(400) { $0.user = "bad-*" },
            .status(500) {
                $0.pns = "wns"
                $0.calls = 2
            },
            .status(409) { $0.path = "/api/register*" },
        ])
        #expect(try client.notify("gcm", "bad-ann").status == 400)
        #expect(try client.notify("gcm", "ann").status == 200)
        #expect(try (0..<3).map { _ in try client.notify("wns", "ann").status } == [500, 500, 200])
        #expect(try client.call("POST", "/api/register").status == 409)
        #expect(try client.call("DELETE", "/api/register/1").status == 409)
        #expect(try client.inbox("h").isEmpty)
        backend.misbehave([])
        #expect(try client.notify("gcm", "bad-ann").status == 200)
    }

    @Test("delays without blocking others, and combines a latency with a status")
    func latency() throws {
        let (backend, client) = try SandboxClient.start {
            $0.misbehaviour = [
                .latency(milliseconds: 250...300) { $0.user = "slow" }, .status(429) { $0.user = "slow" },
            ]
        }
        let start = SystemClock.monotonic()
        let slow = try PlainHTTP(port: backend.port)
        try slow.sendRequest(
            "POST", "/api/notifications?pns=gcm&to_tag=slow", headers: ["Authorization": SandboxClient.basic("a", "a")],
            body: #""m""#)
        while backend.calls.isEmpty { #expect(try client.notify("gcm", "ann").status == 200) }
        #expect(try slow.readAnswer().status == 429)
        #expect(SystemClock.monotonic().time(since: start) >= .milliseconds(250))
    }

    @Test("holds answers, releases the oldest, and answers the rest when the rules change")
    func hold() throws {
        let (backend, ann) = try SandboxClient.start { $0.misbehaviour = [.hold { $0.user = "held-*" }] }
        defer { backend.stop() }
        let calls = try (0..<3).map { number in
            let call = try PlainHTTP(port: backend.port, timeoutSeconds: Patience.seconds)
            try call.sendRequest(
                "POST", "/api/notifications?pns=gcm&to_tag=held-\(number)",
                headers: ["Authorization": SandboxClient.basic("a", "a")], body: "\"Hi\"")
            // The next call comes after this one has arrived.
            while backend.heldCount <= number { sched_yield() }
            return call
        }
        #expect(try ann.call("POST", "/api/notifications?pns=gcm&to_tag=else", body: "\"Hi\"").status == 200)
        #expect(backend.calls.count == 4, "a call that is held has arrived")
        backend.release(1)
        #expect(try calls[0].readAnswer().status == 200)
        #expect(backend.heldCount == 2)
        backend.misbehave([])
        for call in calls.dropFirst() { #expect(try call.readAnswer().status == 200) }
        #expect(backend.heldCount == 0)
    }

    @Test("hangs and hangs up, with or without carrying out the call, and records the missing answer")
    func noAnswer() throws {
        let (backend, client) = try SandboxClient.start()
        try client.register("gcm", "h")
        backend.misbehave([
            .hangUp {
                $0.user = "ann"
                $0.isCarriedOut = true
                $0.calls = 1
            }, .hangUp { $0.user = "ann" },
            .hang { $0.user = "hang" },
        ])
        #expect(throws: PlainHTTP.Failure.closed) { try client.notify("gcm", "ann") }
        #expect(backend.payloads(ofHandle: "h").count == 1)
        #expect(throws: PlainHTTP.Failure.closed) { try client.notify("gcm", "ann") }
        #expect(backend.payloads(ofHandle: "h").count == 1)
        let hanging = try PlainHTTP(port: backend.port, timeoutSeconds: 1)
        try hanging.sendRequest(
            "POST", "/api/notifications?pns=gcm&to_tag=hang", headers: ["Authorization": SandboxClient.basic("a", "a")],
            body: #""m""#)
        #expect(throws: PlainHTTP.Failure.timedOut) { try hanging.readAnswer() }
        #expect(backend.calls.map(\.status) == [nil, nil, nil])
        backend.stop()
    }

    @Test("sends a Retry-After as a date on request")
    func retryAfterDate() throws {
        let (backend, client) = try SandboxClient.start {
            $0.misbehaviour = [.status(503) { $0.retryAfter = "date+3600" }]
        }
        let text = try #require(try client.notify("gcm", "ann").headers["retry-after"])
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let date = try #require(format.date(from: text))
        #expect(abs(date.timeIntervalSinceNow - 3_600) < 60)
        #expect(format.string(from: date) == text)
        backend.stop()
    }

    @Test("takes its rules over HTTP, shows them, and names a mistake")
    func control() throws {
        let (backend, client) = try SandboxClient.start()
        let rules = #"[{"pns":"gcm","status":503,"calls":1,"latency":5},{"hangUp":true,"share":0.5,"user":"x"}]"#
        #expect(try client.call("PUT", "/sandbox/misbehaviour", body: rules).status == 200)
        let shown = try client.call("GET", "/sandbox/misbehaviour").body
        #expect(try Misbehaviour.rules(json: shown) == Misbehaviour.rules(json: Array(rules.utf8)))
        #expect(try client.notify("gcm", "ann").status == 503)
        #expect(try client.notify("gcm", "ann").status == 200)
        let mistake = try client.call("PUT", "/sandbox/misbehaviour", body: #"[{"status":"often"}]"#)
        #expect(mistake.status == 400)
        #expect(mistake.text.contains("status: often is not a whole number from 200 to 599"))
        #expect(try client.call("DELETE", "/sandbox/misbehaviour").status == 200)
        #expect(try client.call("GET", "/sandbox/misbehaviour").text == "[]")
        backend.stop()
    }

    @Test("reads rules from flags")
    func flags() throws {
        let rule = try Misbehaviour(
            parsing: "user=a*,pns=gcm,path=*,status=429,retryAfter=date+5,callsPerKey=2,calls=9,seed=4,share=0.25,"
                + "perSecond=10,latency=5-9,carriedOut")
        var expected = Misbehaviour.status(429)
        expected.path = "*"
        expected.user = "a*"
        expected.pns = "gcm"
        expected.retryAfter = "date+5"
        expected.callsPerKey = 2
        expected.calls = 9
        expected.seed = 4
        expected.share = 0.25
        expected.perSecond = 10
        expected.latency = .milliseconds(5)...(.milliseconds(9))
        expected.isCarriedOut = true
        #expect(rule == expected)
        #expect(
            try Misbehaviour.rules(
                json: Array(Misbehaviour.json([rule, .hold(), .hang(), .hangUp()]).compact.utf8))
                == [rule, .hold(), .hang(), .hangUp()])
        #expect(try Misbehaviour(parsing: "hang") == .hang())
        #expect(try Misbehaviour(parsing: "hold,user=ann") == .hold { $0.user = "ann" })
    }

    @Test(
        "refuses invalid rules",
        arguments: [
            "", "status", "status=99", "status=600", "stat=500", "share=2,status=500", "share=,status=500",
            "calls=0,hang",
            "latency=9-5", "latency=-1", "latency=1-2-3", "latency=x", "user=a", "hang,hangUp", "hang,retryAfter=1",
            "latency=5,retryAfter=1", "hang=perhaps", "hang=false",
        ])
    func mistakes(text: String) {
        #expect(throws: InputError.self) { try Misbehaviour(parsing: text) }
    }

    @Test(
        "refuses all but a JSON array of flat objects", arguments: ["", "{}", "[1]", #"[{"pns":["a"],"hang":true}]"#])
    func badJSON(text: String) {
        #expect(throws: InputError.self) { try Misbehaviour.rules(json: Array(text.utf8)) }
    }

    @Test("limits the calls of each second")
    func rateLimit() {
        var rules = MisbehaviourRules([.status(429) { $0.perSecond = 2 }])
        let call = MisbehaviourRules.Call(path: "/api/notifications")
        let start = MonotonicTime(nanoseconds: 0)
        let refused = [0, 0, 10, 999, 1_000, 1_001, 1_500, 2_000].map { milliseconds in
            rules.verdict(on: call, at: start.advanced(by: .milliseconds(milliseconds))).effect != nil
        }
        #expect(refused == [false, false, true, true, false, false, true, false])
    }

    @Test("fails the same share of calls for the same seed")
    func share() {
        func failures(seed: UInt64) -> [Bool] {
            var rules = MisbehaviourRules([
                .status(500) {
                    $0.share = 0.3
                    $0.seed = seed
                }
            ])
            return (0..<1_000).map { _ in
                let call = MisbehaviourRules.Call(path: "/api/notifications")
                return rules.verdict(on: call, at: MonotonicTime(nanoseconds: 0)).effect != nil
            }
        }
        #expect(failures(seed: 1) == failures(seed: 1))
        #expect(failures(seed: 1) != failures(seed: 2))
        #expect((250...350).contains(failures(seed: 1).filter { $0 }.count))
    }
}
