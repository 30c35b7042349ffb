public import HeraldEvents
import HeraldKernel
public import HeraldTime
import Synchronization

/// Everything that a lane decides, as a value: inputs are methods named after events, and orders come out as
/// ``actions``.
///
/// It has no I/O, clock, randomness or threads of its own, so that a whole cluster of engines can be simulated.
///
/// The way of an event: `record` decodes it into a slot and lines it up behind its user's other events; once it is first
/// and due, a call for each push service is wanted; `answer` classifies and either wants another call or decides;
/// when every service is decided the event is *settled*: its records are produced, and when all of them are
/// acknowledged (`delivered`) its offset is complete.
///
/// Its state belongs to parts, each in a file of its own with its states and transitions at the top; only a part writes
/// its fields. The engine's extensions decide what concerns several parts, and lie beside the part that they concern
/// most.
///
/// | folder | part | owns |
/// |---|---|---|
/// | | ``Lifecycle`` | whether there are partitions, and how a stop ends |
/// | `Events/` | ``EventTable`` | slots, their push services, users' order |
/// | | ``Campaigns`` | stopped campaigns, and the failures of those that may be paused |
/// | `LastWord/` | ``Caps`` | what was delivered to users, as far as caps count it |
/// | | ``UserBackpressure`` | which users have more events than their share, and which of those are deferred |
/// | `Intake/` | ``PartitionTable`` | the finished offsets of each partition |
/// | | ``RequestTopics`` | the place of each request topic |
/// | | ``PublisherFaults`` | records whose publication breaks the contract |
/// | | ``SourceTable`` | the queues, whose turn it is, and why one is paused |
/// | | ``ReadAhead`` | how much is fetched ahead |
/// | | ``DuplicateWindow`` | events that came before |
/// | `Dispatch/` | ``Dispatcher`` | wanted calls, limits, deferrals |
/// | | ``CallTracker`` | calls under way, which of them hang, how many there may be |
/// | | ``HangingUsers`` | the users whose calls hung |
/// | | ``BackendHealth`` | the outage, and its causes |
/// | | ``ServiceHolds`` | the push services that are held, and the evidence against each |
/// | | ``Credentials`` | whether there are any, and which calls wait for new ones |
/// | `Outbox/` | ``ProductionTable`` | records on their way |
/// | | ``Committer`` | commits and transactions, and the outcomes that wait for one |
/// | | ``DelayedEvents`` | the waiting times of events in delay topics |
/// | `Timers/` | ``Reminder``, ``Upkeep`` | things due at a moment; periodic work |
///
/// Not copyable: calling a method of an engine that an object stores would first copy all of it, with a reference count
/// for each of its arrays. Nor movable: see `anchor`.
public struct Engine: ~Copyable, Sendable {
    /// The engine's configuration at its start, with the live part in its present state.
    public internal(set) var configuration: EngineConfiguration
    /// The orders to the lane, in order.
    ///
    /// The lane carries it out and calls ``clearActions()``.
    public internal(set) var actions: [Action] = []
    /// The counts so far.
    public internal(set) var counters: Counters
    /// Records whose publication breaks the contract.
    public internal(set) var publishers: PublisherFaults
    /// The outage in which nothing is taken, if any.
    public var outage: Outage? { health.outage }

    var lifecycle = Lifecycle()

    var events: EventTable
    var campaigns = Campaigns()
    var caps: Caps
    var userBackpressure: UserBackpressure
    /// The events whose turn has come within this input.
    var activations: Ring<SlotID>

    let requestTopics: RequestTopics
    var partitions = PartitionTable()
    var sources = SourceTable()
    var readAhead: ReadAhead
    var duplicates: DuplicateWindow

    var dispatcher: Dispatcher
    var calls: CallTracker
    var hangingUsers: HangingUsers
    var health: BackendHealth
    var credentials: Credentials

    var productions: ProductionTable
    var committer: Committer
    var refusals: TopicRefusals
    var delayed: DelayedEvents

    var due: DueQueue<Reminder>
    /// The search for events that block others.
    var sweeping = Upkeep(every: .seconds(1))
    /// The search for records that stay in memory.
    var copying = Upkeep(every: .milliseconds(250))

    /// An atomic that is never read: it has to stay in place, and without one the compiler copies an engine's bytes,
    /// nearly two thousand, for each call of a method that changes nothing.
    private let anchor = Atomic(false)

    /// An engine without an assignment.
    public init(configuration: EngineConfiguration) {
        self.configuration = configuration
        let capacity = configuration.maxBuffered
        let width = max(1, configuration.decoder.pushServices.names.count)
        requestTopics = RequestTopics(configuration.topics.requests)
        counters = Counters(services: width, requestTopics: requestTopics.unknown)
        publishers = PublisherFaults(requestTopics: requestTopics.unknown)
        delayed = DelayedEvents(delays: configuration.retry.delays, requestTopics: requestTopics.unknown)
        readAhead = ReadAhead(maxBytes: configuration.maxFetchedBytes)
        events = EventTable(capacity: capacity, width: width)
        due = DueQueue(capacity: capacity)
        caps = Caps(rules: configuration.lastWord == nil ? [] : configuration.caps)
        duplicates = DuplicateWindow(
            size: configuration.duplicateSize, window: configuration.duplicateWindow)
        calls = CallTracker(ceiling: configuration.live.maxInFlight)
        hangingUsers = HangingUsers(delays: configuration.retry.delays)
        userBackpressure = UserBackpressure(delays: configuration.retry.delays)
        dispatcher = Dispatcher(configuration: configuration, width: width)
        health = BackendHealth(configuration: configuration.live, width: width)
        credentials = Credentials(width: width)
        productions = ProductionTable(slots: capacity)
        committer = Committer(configuration: configuration)
        refusals = TopicRefusals(topics: TopicRefusals.firstDelay + configuration.retryDelays.count)
        activations = Ring(capacity: 64, filler: SlotID(index: 0, generation: 0))
        actions.reserveCapacity(256)
    }

    /// Forgets the executed actions.
    public mutating func clearActions() {
        // Most inputs leave one or two: removing each costs less than the overhead of removing all at once.
        while !actions.isEmpty { actions.removeLast() }
        committer.recordsHanded()
    }

    /// The event in a slot.
    public func slot(_ index: Int32) -> Slot { events[index] }

    /// Calls `body` with the event in a slot without copying it.
    @inline(__always)
    public func withSlot<Result>(_ index: Int32, _ body: (borrowing Slot) throws -> Result) rethrows -> Result {
        try events.withSlot(index, body)
    }

    /// The topic and partition number of an assigned partition.
    public func position(of partition: Int32) -> (topic: String, number: Int32) {
        (partitions.topicName(of: partition), partitions[partition].number)
    }

    /// The index in the assignment of a topic's partition; `nil` when it is not assigned.
    public func index(of number: Int32, in topic: String) -> Int32? {
        partitions.index(of: number, in: topic)
    }

    /// Calls in flight, events in memory and records on their way.
    public var load: (calls: Int, events: Int, records: Int) {
        (calls.inFlight, events.count, productions.count)
    }

    var membership: Membership { lifecycle.membership }

    /// Whether partitions are assigned and taken from.
    public var isConsuming: Bool { if case .assigned = membership { true } else { false } }

    /// Gives the slot back, and the record's message with it.
    mutating func free(_ slot: Int32) {
        productions.removeAll(of: slot)
        events.free(slot)
        actions.append(.release(slot: slot))
    }
}

/// One consumed topic.
public struct ConsumedTopic: Sendable, Equatable {
    /// The purpose of the topic.
    public enum Role: Sendable, Equatable {
        /// A request topic, taken by this weight (at least 1).
        case request(weight: Int)
        /// A retry topic whose records wait this long.
        case retry(delay: Milliseconds)
    }

    /// The topic's name.
    public var name: String
    /// Its purpose.
    public var role: Role

    /// A consumed topic.
    public init(name: String, role: Role) {
        self.name = name
        self.role = role
    }
}

/// One partition of a new assignment.
public struct AssignedPartition: Sendable, Equatable {
    /// The index of its topic in the list given with it.
    public var topic: Int
    /// The partition's number in the topic.
    public var number: Int32
    /// The first offset to take; `nil` when the broker decides (no offset yet), until the first record shows it.
    public var startOffset: Int64?
    /// The first offset to read; `nil` for ``startOffset``.
    ///
    /// Records between them are settled, and are read again to remember them.
    public var historyOffset: Int64?
    /// The metadata committed with that offset: the map of work done beyond it.
    public var metadata: String
    /// The push services for which the settled event at an offset became a dead letter.
    ///
    /// `nil` when this is unknown: then no settled event makes a later one a duplicate.
    public var failed: [Int64: PushServiceSet]?

    /// A partition to take from.
    public init(
        topic: Int, number: Int32, startOffset: Int64?, historyOffset: Int64? = nil, metadata: String = "",
        failed: [Int64: PushServiceSet]? = [:]
    ) {
        self.topic = topic
        self.number = number
        self.startOffset = startOffset
        self.historyOffset = historyOffset
        self.metadata = metadata
        self.failed = failed
    }
}

/// The committed position of one partition.
public struct CommittedPosition: Sendable, Equatable {
    /// The partition's index in the assignment.
    public var partition: Int32
    /// The next offset to consume.
    public var offset: Int64
    /// The map of work done beyond it.
    public var metadata: String
    var mark: Int
}
