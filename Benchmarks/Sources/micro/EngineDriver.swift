import HeraldCore
import HeraldEvents
import HeraldTime

/// An engine in its steady state, with queues in place of a backend and a broker.
///
/// It does exactly a lane's work: a fixed number of calls is in flight, answers come in the order of the calls,
/// acknowledgements in batches, a commit takes as long as some hundred events. Nothing here allocates once it is warm.
struct EngineDriver: ~Copyable {
    static let partitions = 6
    static let callsInFlight = 256
    static let acknowledgedTogether = 64
    static let turn = 64
    /// The number of events taken during a commit.
    static let takenDuringCommit = 512

    private var engine: Engine
    private var events: [[UInt8]]
    /// Each event's key, and the partition chosen by its publisher.
    private let keys: [[UInt8]]
    private let places: [Int]
    private var offsets = Array(repeating: Int64(0), count: Self.partitions)
    private let result: CallResult
    private var hub: HubCalls?
    private let noHeaders = HeaderList()
    private var now = Moment(
        monotonic: MonotonicTime(nanoseconds: 0), wall: WallTime(milliseconds: 1_700_000_000_000))
    private var taken = 0
    private var output = OutputRecord()
    private var eventInSlot: [Int]
    private var calls = Queue<CallToken>(filler: CallToken(rawValue: 0))
    private var productions = Queue<ProductionID>(filler: ProductionID(rawValue: 0))
    private var commit: (sequence: UInt64, answeredAt: Int)?
    private let isAtomic: Bool
    private(set) var producedBytes = 0

    /// - Parameters:
    ///   - keys: the events' users.
    ///   - result: the backend's answer to every call.
    ///   - hub: writes the calls for a hub; without it no call is written.
    init(configuration: EngineConfiguration, events: [[UInt8]], keys: [[UInt8]], result: CallResult, hub: HubCalls?) {
        engine = Engine(configuration: configuration)
        isAtomic = configuration.isAtomic
        self.events = events
        self.keys = keys
        places = keys.map { Int(KeyPartition.partition(of: $0.span.bytes, count: Self.partitions)) }
        self.result = result
        self.hub = hub
        eventInSlot = Array(repeating: 0, count: configuration.maxBuffered)
        engine.assigned(
            (0..<Int32(Self.partitions)).map { AssignedPartition(topic: 0, number: $0, startOffset: 0) },
            topics: [ConsumedTopic(name: "notifications", role: .request(weight: 10))], now: now)
        engine.use(partitionCounts: [Self.partitions, 0])
        engine.producerReady(lateClaims: 0, now: now)
        carryOut()
    }

    /// Takes `count` events, or records without a value, each of which is settled soon after.
    mutating func run(_ count: Int, tombstones: Bool = false) {
        for _ in 0..<count {
            take(tombstone: tombstones)
            while calls.count >= min(Self.callsInFlight, engine.inFlightLimit) { answer() }
            if productions.count >= Self.acknowledgedTogether { acknowledge() }
            if let commit, taken >= commit.answeredAt { end(commit.sequence) }
            if taken % Self.turn == 0 {
                engine.tick(now: now)
                carryOut()
            }
        }
    }

    /// The engine's counters.
    var counters: Counters { engine.counters }

    /// The total length of a hub's calls.
    var calledBytes: Int { hub?.bytes ?? 0 }

    private mutating func take(tombstone: Bool) {
        // 10 µs each, so that a commit is due every 10 000 events at the most.
        now.monotonic.nanoseconds += 10_000
        let event = taken % events.count
        if !tombstone { number(event) }
        let value = events[event]
        let key = keys[event]
        let partition = places[event]
        let offset = offsets[partition]
        offsets[partition] += 1
        taken += 1
        let intake = engine.record(
            source: 0, partition: Int32(partition), offset: offset, timestamp: now.wall,
            key: key.span.bytes, value: tombstone ? nil : value.span.bytes, headers: noHeaders, now: now)
        if case .accepted(let slot) = intake { eventInSlot[Int(slot.index)] = event }
        carryOut()
    }

    /// Gives the event an id of its own, because otherwise it would be a duplicate.
    ///
    /// The former use of the same bytes is over: there are more events than can be under way.
    private mutating func number(_ event: Int) {
        var rest = taken
        for place in eventIDDigits.reversed() {
            events[event][place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
    }

    private mutating func answer() {
        guard let token = calls.popFirst() else { return }
        engine.answer(token, result, now: now, entropy: 0)
        carryOut()
    }

    private mutating func acknowledge() {
        while let id = productions.popFirst() { engine.delivered(id, now: now) }
        carryOut()
    }

    private mutating func end(_ sequence: UInt64) {
        commit = nil
        engine.committed(sequence: sequence, .acknowledged, now: now)
        carryOut()
    }

    private mutating func carryOut() {
        var next = 0
        while next < engine.actions.count {
            let action = engine.actions[next]
            next += 1
            switch action {
            case .call(let token): call(token)
            case .produce(let id): produce(id)
            case .commit(let sequence): commit = (sequence, taken + Self.takenDuringCommit)
            case .beginTransaction, .release, .retainRecord: break
            case .abortTransaction, .giveUpRecords, .renewProducer, .resolveCommit, .rewind, .pause, .resume,
                .retainQueue,
                .dropRetained, .unassign,
                .leave, .renewCredentials, .pauseCampaign, .notice:
                preconditionFailure("nothing fails here")
            }
        }
        engine.clearActions()
    }

    private mutating func call(_ token: CallToken) {
        calls.append(token)
        guard hub != nil else { return }
        let value = events[eventInSlot[Int(token.slot.index)]]
        let wall = now.wall
        engine.withSlot(token.slot.index) { hub?.write($0.event, value: value.span.bytes, wall: wall) }
    }

    private mutating func produce(_ id: ProductionID) {
        guard let production = engine.production(id) else { return }
        output.removeAll()
        let value = events[eventInSlot[Int(production.slot.index)]]
        engine.write(production, keyByteCount: 8, value: value.span.bytes, headers: noHeaders, into: &output)
        producedBytes += output.value.count
        // A transaction's commit stands for all of its records.
        if !isAtomic { productions.append(id) }
    }
}

/// A queue that holds at most 4096 elements and never allocates.
private struct Queue<Element> {
    private var elements: [Element]
    private var head = 0
    private(set) var count = 0

    init(filler: Element) {
        elements = Array(repeating: filler, count: 4_096)
    }

    mutating func append(_ element: Element) {
        precondition(count < elements.count, "more is under way than an engine lets through")
        elements[(head + count) & 4_095] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        defer {
            head = (head + 1) & 4_095
            count -= 1
        }
        return elements[head]
    }
}
