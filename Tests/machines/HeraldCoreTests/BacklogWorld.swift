import HeraldEvents
import HeraldKernel
import HeraldTime

@testable import HeraldCore

/// One engine with a backlog, its retry topics and a backend, in virtual time: hours of work in seconds.
struct BacklogWorld: ~Copyable {
    /// A record that waits in a topic.
    struct Record {
        var value: [UInt8]
        var headers: HeaderList
        var timestamp: Int64
        var event: Int
        var service: String
    }

    /// The backend's answer to a call of this event at this moment (milliseconds).
    typealias Backend = (_ event: Int, _ time: Int64) -> CallResult

    private var engine: Engine
    private(set) var time: Int64 = 1_000_000_000
    /// The published events, and the records of each delay.
    private var requests = Queue<Record>()
    private var retries: [Queue<Record>]
    private var kept: [Int32: Record] = [:]
    private var offsets: [Int64]
    private var inFlight = Queue<(due: Int64, token: CallToken, result: CallResult)>()
    private var backend: Backend
    private let latency: Int64
    private let poll: Int64
    private let delays: [DelayName]
    private let change: (inout EngineConfiguration) -> Void

    private(set) var calls = 0
    private(set) var delivered = 0
    /// The deliveries to each push service.
    private(set) var deliveredTo: [String: Int] = [:]
    private(set) var refused = 0
    private(set) var dead = 0
    private(set) var retryRecords = 0
    /// The number of records in delay topics, by reason.
    private(set) var throttled = 0
    private var published = 0

    /// - Parameter poll: the longest step (milliseconds).
    init(
        delays: [String] = ["5s", "30s", "5m", "30m", "2h"], latency: Int64 = 20, poll: Int64 = 1_000,
        backend: @escaping Backend, _ change: @escaping (inout EngineConfiguration) -> Void = { _ in }
    ) {
        self.delays = delays.compactMap { DelayName($0) }
        self.latency = latency
        self.poll = poll
        self.backend = backend
        self.change = change
        retries = self.delays.map { _ in Queue() }
        offsets = Array(repeating: 0, count: self.delays.count + 1)
        engine = Self.engine(self.delays, change)
        assign()
    }

    private static func engine(_ delays: [DelayName], _ change: (inout EngineConfiguration) -> Void) -> Engine {
        var configuration = EngineConfiguration(decoder: RecordDecoder(maxEventBytes: 1_000))
        configuration.retryDelays = delays
        configuration.retry = RetryPolicy(delays: delays.map(\.length))
        change(&configuration)
        return Engine(configuration: configuration)
    }

    private mutating func assign() {
        let topics =
            [ConsumedTopic(name: "notifications", role: .request(weight: 10))]
            + delays.map { ConsumedTopic(name: "notifications.retry.\($0)", role: .retry(delay: $0.length)) }
        engine.assigned(
            topics.indices.map { AssignedPartition(topic: $0, number: 0, startOffset: offsets[$0]) }, topics: topics,
            now: now)
        engine.clearActions()
    }

    private var now: Moment {
        Moment(monotonic: MonotonicTime(nanoseconds: time * 1_000_000), wall: WallTime(milliseconds: time))
    }

    /// The limit of calls a second to the first push service, if the engine found one.
    var rateLimit: Double? { engine.rateLimit(ofService: 0) }

    /// The number of events that have not been delivered yet.
    var backlog: Int { published - delivered - dead }

    mutating func publish(_ count: Int, to service: String = "apns") {
        for _ in 0..<count {
            let value = Array(#"{"id":"\#(published)","user":"u\#(published)","message":"m","pns":"\#(service)"}"#.utf8)
            requests.append(
                Record(value: value, headers: HeaderList(), timestamp: time, event: published, service: service))
            published += 1
        }
    }

    /// Restarts the worker with other settings; events in memory are taken again.
    mutating func restart(_ other: ((inout EngineConfiguration) -> Void)? = nil) {
        for record in kept.values.sorted(by: { $0.event < $1.event }) { requests.append(record) }
        kept.removeAll()
        inFlight = Queue()
        engine = Self.engine(delays) { configuration in
            change(&configuration)
            other?(&configuration)
        }
        assign()
    }

    /// Lets this time pass (milliseconds).
    mutating func run(for milliseconds: Int64) {
        let end = time + milliseconds
        while time < end {
            step()
            var next = min(end, time + poll)
            if let due = inFlight.first?.due { next = min(next, due) }
            if let wake = engine.nextWake { next = min(next, wake.nanoseconds / 1_000_000 + 1) }
            time = max(next, time + 1)
        }
    }

    private mutating func step() {
        while let first = inFlight.first, first.due <= time {
            _ = inFlight.popFirst()
            engine.answer(first.token, first.result, now: now, entropy: UInt64(calls) &* 0x9E37_79B9_7F4A_7C15)
            carryOut()
        }
        engine.tick(now: now)
        carryOut()
        for source in engine.sourceList.indices { engine.recordsArrived(in: source) }
        while let source = engine.nextSource() {
            guard let record = source == 0 ? requests.popFirst() : retries[source - 1].popFirst() else {
                engine.exhausted(source: source)
                continue
            }
            let intake = engine.record(
                source: source, partition: 0, offset: offsets[source],
                timestamp: WallTime(milliseconds: record.timestamp), value: record.value.span.bytes,
                headers: record.headers, now: now)
            offsets[source] += 1
            if case .accepted(let slot) = intake { kept[slot.index] = record }
            carryOut()
        }
    }

    private mutating func carryOut() {
        while !engine.actions.isEmpty {
            let actions = engine.actions
            engine.clearActions()
            for action in actions { carryOut(action) }
        }
    }

    private mutating func carryOut(_ action: Action) {
        switch action {
        case .call(let token):
            calls += 1
            let result = backend(kept[token.slot.index]?.event ?? 0, time)
            if result.status == 429 { refused += 1 }
            inFlight.append((time + latency, token, result))
        case .produce(let id): produce(id)
        case .release(let slot): kept[slot] = nil
        case .commit(let sequence): engine.committed(sequence: sequence, .acknowledged, now: now)
        default: break
        }
    }

    private mutating func produce(_ id: ProductionID) {
        guard let production = engine.production(id), let record = kept[production.slot.index] else { return }
        switch production.content {
        case .result(let final, _):
            guard final == .delivered else { break }
            delivered += 1
            deliveredTo[record.service, default: 0] += 1
        case .caps: break
        case .copy(let copy):
            guard case .retry(let delay, _, let reason) = copy.destination else {
                dead += 1
                break
            }
            retryRecords += 1
            if reason == .throttled { throttled += 1 }
            var output = OutputRecord()
            engine.write(
                production, keyByteCount: 0, value: record.value.span.bytes, headers: record.headers, into: &output)
            retries[delay].append(
                Record(
                    value: record.value, headers: output.headers, timestamp: time, event: record.event,
                    service: record.service))
        }
        engine.delivered(id, now: now)
    }
}

/// A queue, first in, first out.
struct Queue<Element> {
    private var elements: [Element] = []
    private var head = 0

    var first: Element? { head < elements.count ? elements[head] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        head += 1
        if head > 10_000, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}
