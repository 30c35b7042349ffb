import HeraldCore
import HeraldEvents
import HeraldTime

/// What users who always fail may do to others: nothing beyond a bound.
package struct Bystanders: Sendable, CustomStringConvertible {
    package var description: String
    /// Who fails: one of so many users, or when negative all but one of so many.
    var every = 1
    var status = 503
    /// Whether they get no answer at all, but a time-out.
    var hangs = false
    /// How many events of how many users are published at once.
    var events = 600
    var users = 600
    /// Whether they are a campaign, in the topic behind.
    var isCampaign = false
    /// Whether the failing users' events come one behind the other, and not among the others'.
    var isClump = false
    /// Whether one of them comes with each code, and not all at once.
    var isTrickle = false
    /// How many calls may be in flight.
    var maxInFlight = 64
    /// One-time codes of other users, a second.
    var codes = 5
    /// A code may wait so long for its answer (milliseconds): while the backlog is called, or until a probe has found that
    /// others get through.
    var bound: Int64 = 500

    package static let all = [
        Self(description: "a fifth fails", every: 5),
        Self(description: "a fifth fails beside few others", every: 5, codes: 1),
        Self(description: "two of three fail", every: -3),
        Self(description: "a third is rejected", every: 3, status: 400),
        Self(description: "few users fail often", users: 30),
        Self(description: "few users are rejected often", status: 400, users: 30),
        Self(description: "very few users are rejected often", status: 400, users: 8, codes: 1, bound: 1_000),
        Self(description: "a fifth fails, one behind the other", every: 5, isClump: true, bound: 3_000),
        Self(
            description: "a half is rejected, one behind the other", every: 2, status: 400, isClump: true, bound: 3_000),
        Self(description: "a campaign fails", isCampaign: true, bound: 2_000),
        Self(description: "a campaign is rejected", status: 400, isCampaign: true, bound: 2_000),
        Self(description: "a tenth is refused", every: 10, status: 403, bound: 300),
        Self(description: "a twentieth is told to wait", every: 20, status: 429, codes: 20),
        Self(
            description: "every second one hangs", every: 2, hangs: true, isTrickle: true, maxInFlight: 1_000, codes: 20
        ),
    ]

    /// How long the code waited that waited longest (milliseconds); `nil` when one was never answered.
    package func longestDelay() -> Int64? {
        let world = FailingUsers(
            answer: hangs ? CallResult(failure: .timeout) : CallResult(status: status), maxInFlight: maxInFlight)
        let names = (0..<events).map { number in
            let user = number % users
            let fails = every < 0 ? user % -every != 0 : user % every == 0
            return (fails ? FailingUsers.mark : "good-") + "\(user)"
        }
        if !isTrickle {
            for name in isClump ? names.sorted() : names { world.publish(name, to: isCampaign ? 1 : 0) }
        }
        for number in 0..<60 * codes {
            if isTrickle, number < events { world.publish(names[number], to: 0) }
            world.publish("code-\(number)", to: 0)
            world.run(for: Int64(1_000 / codes))
        }
        world.run(for: 10_000)
        let delays = world.delays.filter { $0.key.hasPrefix("code-") }.values
        return delays.count == 60 * codes ? delays.max() : nil
    }

    /// What broke the bound, if anything did.
    package func violation() -> String? {
        guard let delay = longestDelay() else { return "\(self): others are never called" }
        return delay <= bound ? nil : "\(self): others wait for \(delay) ms, \(bound) are allowed"
    }
}

/// One engine between topics that keep what it produces, and a backend that answers some users the same for ever.
private final class FailingUsers {
    private struct Record {
        var value: [UInt8]
        var headers = HeaderList()
        var timestamp: Int64
    }

    /// What the names of failing users begin with.
    static let mark = "bad-"
    /// How long a call takes (milliseconds).
    private static let latency: Int64 = 20
    private static let firstRetryTopic = 2

    private var engine: Engine
    private let failure: CallResult
    private var now = Simulation.start
    private var topics: [[Record]] = [[], [], [], []]
    private var taken = [0, 0, 0, 0]
    private var records: [Int32: Record] = [:]
    private var calls = Agenda<(CallToken, CallResult)>()
    private var published: [String: Int64] = [:]
    /// From publication to the first answer that took the message (milliseconds).
    private(set) var delays: [String: Int64] = [:]

    /// - Parameter failure: what those hear who fail.
    init(answer failure: CallResult, maxInFlight: Int) {
        self.failure = failure
        var configuration = EngineConfiguration(decoder: RecordDecoder())
        configuration.retryDelays = ["1s", "30s"].compactMap { DelayName($0) }
        configuration.retry = RetryPolicy(immediate: 1, delays: [1_000, 30_000])
        configuration.maxInFlight = maxInFlight
        engine = Engine(configuration: configuration)
        let consumed = [
            ConsumedTopic(name: "notifications", role: .request(weight: 10)),
            ConsumedTopic(name: "notifications.bulk", role: .request(weight: 1)),
            ConsumedTopic(name: "notifications.retry.1s", role: .retry(delay: 1_000)),
            ConsumedTopic(name: "notifications.retry.30s", role: .retry(delay: 30_000)),
        ]
        engine.assigned(
            consumed.indices.map { AssignedPartition(topic: $0, number: 0, startOffset: 0) }, topics: consumed,
            now: moment)
    }

    private var moment: Moment {
        Moment(
            monotonic: MonotonicTime(nanoseconds: (now - Simulation.start) * 1_000_000),
            wall: WallTime(milliseconds: now))
    }

    func publish(_ user: String, to topic: Int) {
        published[user] = now
        let value = #"{"user":"\#(user)","message":"m","pns":["apns"]}"#
        topics[topic].append(Record(value: Array(value.utf8), timestamp: now))
        engine.recordsArrived()
    }

    func run(for milliseconds: Int64) {
        for _ in 0..<milliseconds / 10 {
            now += 10
            engine.tick(now: moment)
            turn()
            while let (token, result) = calls.next(until: now) {
                answer(token, result)
                turn()
            }
        }
    }

    private func turn() {
        carryOut()
        while let topic = engine.nextSource() {
            guard taken[topic] < topics[topic].count else {
                engine.exhausted(source: topic)
                continue
            }
            let record = topics[topic][taken[topic]]
            let intake = engine.record(
                source: topic, partition: 0, offset: Int64(taken[topic]),
                timestamp: WallTime(milliseconds: record.timestamp), value: record.value.span.bytes,
                headers: record.headers, now: moment)
            guard intake != .noRoom else { break }
            if case .kept(let slot) = intake { records[slot.index] = record }
            taken[topic] += 1
            carryOut()
        }
    }

    private func carryOut() {
        while !engine.actions.isEmpty {
            let actions = engine.actions
            engine.clearActions()
            for action in actions {
                switch action {
                case .call(let token): call(token)
                case .renewCredentials: engine.credentialsRenewed(now: moment)
                case .produce(let id): produce(id)
                case .release(let slot): records[slot] = nil
                case .commit(let sequence): engine.committed(sequence: sequence, .acknowledged, now: moment)
                default: break
                }
            }
        }
    }

    /// Retries go to their topics; everything else is acknowledged and forgotten.
    private func produce(_ id: ProductionID) {
        guard let production = engine.production(id), let record = records[production.slot.index] else { return }
        if production.kind == .retry {
            var output = OutputRecord()
            engine.write(
                production, keyByteCount: 0, value: record.value.span.bytes, headers: record.headers, into: &output)
            topics[Self.firstRetryTopic + production.delay].append(
                Record(value: record.value, headers: output.headers, timestamp: now))
            engine.recordsArrived()
        }
        engine.delivered(id, now: moment)
    }

    private func call(_ token: CallToken) {
        let fails = user(of: token)?.hasPrefix(Self.mark) == true
        let took = fails && failure.status == 0 ? SimulatedBackend.timeout : Self.latency
        var result = fails ? failure : CallResult(status: 200)
        result.durationMilliseconds = Int32(took)
        calls.add((token, result), at: now + took)
    }

    private func answer(_ token: CallToken, _ result: CallResult) {
        guard let user = user(of: token) else { return }
        engine.answer(token, result, now: moment, entropy: 0)
        if result.status == 200, delays[user] == nil { delays[user] = now - published[user, default: now] }
    }

    private func user(of token: CallToken) -> String? {
        guard let record = records[token.slot.index] else { return nil }
        return engine.withSlot(token.slot.index) { slot in
            slot.event.bytes(of: slot.event.user, value: record.value.span.bytes).withUnsafeBytes {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }
}
