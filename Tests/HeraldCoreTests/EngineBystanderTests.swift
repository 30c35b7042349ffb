import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Users who always fail")
struct EngineBystanderTests {
    /// Who fails, and how.
    struct Trouble: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// One of so many users fails.
        var every: Int
        var status: Int
        var topic = EngineHarness.request
        /// Whether the failing users' events come one behind the other, and not among the others'.
        var isClump = false
        /// Codes a second.
        var codes = 5
        /// No code may wait longer than this for its call's answer (milliseconds).
        var bound: Int64
    }

    static let troubles = [
        Trouble(testDescription: "a fifth, 503", every: 5, status: 503, bound: 100),
        Trouble(testDescription: "two thirds, 503", every: -3, status: 503, bound: 100),
        Trouble(testDescription: "a fifth, 503, few codes", every: 5, status: 503, codes: 1, bound: 100),
        Trouble(testDescription: "a third, 400", every: 3, status: 400, bound: 100),
        Trouble(testDescription: "a fifth, 503, in a clump", every: 5, status: 503, isClump: true, bound: 4_000),
        Trouble(
            testDescription: "a third of a campaign, 400, in a clump", every: 3, status: 400,
            topic: EngineHarness.bulk, isClump: true, bound: 4_000),
        Trouble(testDescription: "a whole campaign, 400", every: 1, status: 400, topic: EngineHarness.bulk, bound: 4_000),
        Trouble(testDescription: "a whole campaign, 503", every: 1, status: 503, topic: EngineHarness.bulk, bound: 4_000),
    ]

    @Test("delay nobody else beyond the bound", arguments: troubles)
    func bystanders(trouble: Trouble) {
        let world = FailingUsers(status: trouble.status)
        let users = (0..<600).map { number in
            let isBad = trouble.every < 0 ? number % -trouble.every != 0 : number % trouble.every == 0
            return isBad ? "bad\(number)" : "good\(number)"
        }
        let order = trouble.isClump ? users.sorted() : users
        for user in order { world.publish(user, to: trouble.topic) }
        var worst: Int64 = 0
        for second in 0..<60 {
            for number in 0..<trouble.codes {
                world.publish("code\(second)-\(number)", to: EngineHarness.request)
                world.run(for: Int64(1_000 / trouble.codes))
            }
        }
        world.run(for: 10_000)
        for (user, delay) in world.delays where user.hasPrefix("code") { worst = max(worst, delay) }
        #expect(world.delays.keys.count { $0.hasPrefix("code") } == 60 * trouble.codes)
        #expect(worst <= trouble.bound, "a code waited for \(worst) ms")
    }
}

/// An engine between topics that keep what it produces, and a backend that answers some users with one status for ever.
final class FailingUsers {
    private struct Record {
        var json: String
        var headers: [(String, String)] = []
    }

    private let harness: EngineHarness
    private let status: Int
    private var queues: [[Record]] = [[], [], [], []]
    private var published: [String: Int64] = [:]
    private var answers: [(at: Int64, token: CallToken)] = []
    /// From publication to the answer of the first call that got through (milliseconds).
    private(set) var delays: [String: Int64] = [:]

    /// How long a call takes (milliseconds).
    private static let latency: Int64 = 20

    init(status: Int) {
        self.status = status
        harness = EngineHarness { $0.maxInFlight = 64 }
    }

    func publish(_ user: String, to topic: Int) {
        published[user] = harness.time
        queues[topic].append(Record(json: #"{"id":"\#(user)","user":"\#(user)","message":"m","pns":["apns"]}"#))
        harness.engine.recordsArrived()
    }

    func run(for milliseconds: Int64) {
        for _ in 0..<milliseconds / 10 { step() }
    }

    private func step() {
        harness.pass(10)
        take()
        while let first = answers.first, first.at <= harness.time {
            answers.removeFirst()
            answer(first.token)
            keep()
            take()
        }
    }

    private func take() {
        while let source = harness.engine.nextSource() {
            guard let record = queues[source].first else {
                harness.engine.exhausted(source: source)
                continue
            }
            guard harness.record(record.json, on: source, headers: record.headers) != .noRoom else { break }
            queues[source].removeFirst()
        }
        while !harness.calls.isEmpty { answers.append((harness.time + Self.latency, harness.takeCall())) }
    }

    private func answer(_ token: CallToken) {
        let user = harness.user(token)
        let isBad = user.hasPrefix("bad")
        harness.answer(token, CallResult(status: isBad ? status : 200, durationMilliseconds: Int32(Self.latency)))
        if !isBad, delays[user] == nil { delays[user] = harness.time - published[user, default: 0] }
    }

    /// Retries go to their topics.
    private func keep() {
        for (index, entry) in harness.produced.enumerated() where entry.production.kind == .retry {
            let queue = EngineHarness.oneSecond + entry.production.delay
            queues[queue].append(
                Record(json: harness.text(of: entry.production.slot), headers: Array(harness.headers(at: index))))
            harness.engine.recordsArrived()
        }
        harness.acknowledgeAll()
    }
}
