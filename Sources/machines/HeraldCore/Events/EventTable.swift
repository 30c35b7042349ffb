import HeraldEvents
import HeraldKernel
import HeraldTime

/// The events in memory, each in a slot, and where each of their push services stands.
///
/// No other part writes them. ``Slot/Phase`` and ``ServiceState/Phase`` have the transitions: one that is not in them stops
/// a debug build and the simulation.
struct EventTable: ~Copyable, Sendable {
    /// What one large event needed in bytes does not stay with its slot, of which there are thousands.
    private static let keptScratch = 1_024
    /// So many slots there are at first.
    ///
    /// They double when all are taken, up to the capacity. A slot has half a kilobyte, and a worker with little to do needs a
    /// few hundred.
    private static let firstSlots = 256

    /// How many events there may be.
    private(set) var capacity: Int
    /// How many push services there are.
    let width: Int
    private(set) var slots: [Slot]
    /// A place for each push service of each slot: see ``place(_:_:)``.
    private(set) var services: [ServiceState]
    private var freeSlots: [Int32]
    private var order: UserOrder
    /// How many wait for their moment.
    private(set) var waitingCount = 0
    /// How many settled events are left out of transactions for a while.
    private(set) var refusedCount = 0
    private(set) var bytes = 0
    /// The same by the class of the sources: all retries, and each request topic.
    private(set) var bytesByClass = [0]

    init(capacity: Int, width: Int) {
        self.capacity = capacity
        self.width = width
        let count = min(capacity, Self.firstSlots)
        slots = Array(repeating: Slot(), count: count)
        services = Array(repeating: ServiceState(), count: count * width)
        freeSlots = (0..<Int32(count)).reversed()
        order = UserOrder(slots: count)
    }

    /// There may be so many events from now on, never fewer than before.
    mutating func grow(capacity: Int) { self.capacity = capacity }

    /// Adds slots when none is free, and there may be more.
    private mutating func makeRoom() {
        guard freeSlots.isEmpty else { return }
        let count = min(capacity, 2 * slots.count)
        freeSlots = (Int32(slots.count)..<Int32(count)).reversed()
        let more = count - slots.count
        slots += Array(repeating: Slot(), count: more)
        services += Array(repeating: ServiceState(), count: more * width)
        order.grow(slots: count)
    }

    /// The event in a slot.
    subscript(slot: Int32) -> Slot {
        @inline(__always) _read { yield slots[Int(slot)] }
    }

    /// Gives the event in a slot to `body` without copying it.
    @inline(__always)
    func withSlot<Result>(_ slot: Int32, _ body: (borrowing Slot) throws -> Result) rethrows -> Result {
        precondition(slots.indices.contains(Int(slot)), "no such slot")
        // Given as an array's element it would be copied, a reference count for each of its arrays.
        return try slots.withUnsafeBufferPointer { try body($0[Int(slot)]) }
    }

    /// How many events there are.
    var count: Int { slots.count - freeSlots.count }

    /// How many more there may be.
    var room: Int { capacity - count }

    /// Where a push service of an event stands in ``services``.
    func place(_ slot: Int32, _ service: Int) -> Int { Int(slot) * width + service }

    func service(_ token: CallToken) -> Int { place(token.slot.index, Int(token.service)) }

    func id(of slot: Int32) -> SlotID { SlotID(index: slot, generation: slots[Int(slot)].generation) }

    func token(_ slot: Int32, _ service: Int) -> CallToken {
        CallToken(slot: id(of: slot), service: UInt8(service))
    }

    func isCurrent(_ id: SlotID) -> Bool {
        Int(id.index) < slots.count && slots[Int(id.index)].generation == id.generation
            && slots[Int(id.index)].phase != .free
    }

    func isExpired(_ slot: Int32, now: Moment) -> Bool {
        guard let expiresAt = slots[Int(slot)].event.expiresAt else { return false }
        return now.wall >= expiresAt
    }

    /// Since when an event waits for its outcome: since it was published first, or since the moment that it was given.
    func waitsSince(_ slot: Int32) -> WallTime {
        let published = slots[Int(slot)].publishedAt
        return max(published, slots[Int(slot)].event.notBefore ?? published)
    }

    /// Gives every event that is there, in no order.
    func forEachPresent(_ body: (Int32) -> Void) {
        var left = count
        for index in slots.indices where left > 0 && slots[index].phase != .free {
            left -= 1
            body(Int32(index))
        }
    }

    /// There are so many classes of sources from now on; no event is there.
    mutating func divide(classes: Int) { bytesByClass = Array(repeating: 0, count: classes) }
}

// MARK: Coming and going

extension EventTable {
    /// A record, as far as it is known before it is decoded.
    struct Arrival {
        var source: Int
        var callClass: Int
        /// The place of its request topic; that of a retry is in its headers.
        var requestTopic: Int
        /// The index of its partition in the assignment.
        var partition: Int32
        var offset: Int64
        var timestamp: WallTime?
        var isRetry: Bool
        /// Of its key, value and headers.
        var bytes: Int
    }

    /// Decodes a record into the next free slot, of which there is one.
    mutating func add(
        _ arrival: Arrival, topic: String, number: Int32, value: RawSpan, headers: HeaderList,
        decoder: borrowing RecordDecoder, now: Moment
    ) -> Int32 {
        makeRoom()
        let slot = freeSlots.removeLast()
        let place = Int(slot)
        slots[place].phase.become(.active)
        slots[place].isRetry = arrival.isRetry
        slots[place].partition = arrival.partition
        slots[place].source = Int32(arrival.source)
        slots[place].callClass = Int32(arrival.callClass)
        slots[place].requestTopic = Int32(arrival.requestTopic)
        slots[place].offset = arrival.offset
        slots[place].timestamp = arrival.timestamp?.credible(now: now.wall)
        slots[place].firstAttemptAt = nil
        slots[place].takenAt = now.monotonic
        slots[place].isKept = false
        slots[place].activeSince = now.monotonic
        slots[place].isBlocking = false
        slots[place].wasCalled = false
        slots[place].sourceHash = 0
        slots[place].campaign = 0
        slots[place].behind = 0
        slots[place].failure = decoder.decode(
            topicKind: arrival.isRetry ? .retry : .request, topic: topic, partition: number, offset: arrival.offset,
            value: value, headers: headers, into: &slots[place].event)
        slots[place].publishedAt =
            slots[place].event.originTimestamp?.credible(now: now.wall) ?? slots[place].timestamp ?? now.wall
        slots[place].bytes = arrival.bytes + slots[place].event.scratch.count
        bytes += slots[place].bytes
        bytesByClass[arrival.callClass] += slots[place].bytes
        return slot
    }

    /// Takes what can't be read into the next free slot, of which there is one.
    mutating func add(
        _ arrival: Arrival, unreadable failure: DecodingFailure, topic: String, number: Int32,
        decoder: borrowing RecordDecoder, now: Moment
    ) -> Int32 {
        let nothing: [UInt8] = []
        let slot = add(
            arrival, topic: topic, number: number, value: nothing.span.bytes, headers: HeaderList(), decoder: decoder,
            now: now)
        slots[Int(slot)].failure = failure
        return slot
    }

    /// A retry's headers told its request topic.
    mutating func findRequestTopic(_ slot: Int32, value: RawSpan, among topics: RequestTopics) {
        let place = withSlot(slot) { topics.place(of: $0.event.bytes(of: $0.event.originTopic, value: value)) }
        slots[Int(slot)].requestTopic = Int32(place)
    }

    /// What is wrong with how an event was published to a request topic with so many partitions.
    func publisherFault(
        of slot: Int32, key: RawSpan?, value: RawSpan, headers: HeaderList, partition: Int32, count: Int
    ) -> PublisherFault? {
        withSlot(slot) {
            $0.event.publisherFault(key: key, value: value, partition: partition, of: count, headers: headers)
        }
    }

    /// Decodes a request record into the next free slot without taking it; `nil` when it is no event or there is no slot.
    mutating func peek(
        topic: String, number: Int32, partition: Int32, offset: Int64, value: RawSpan, headers: HeaderList,
        decoder: borrowing RecordDecoder, hashSeed: UInt64
    ) -> Int32? {
        makeRoom()
        guard let slot = freeSlots.last else { return nil }
        slots[Int(slot)].isRetry = false
        slots[Int(slot)].partition = partition
        let failure = decoder.decode(
            topicKind: .request, topic: topic, partition: number, offset: offset, value: value, headers: headers,
            into: &slots[Int(slot)].event)
        guard failure == nil else { return nil }
        hashNames(slot, value: value, seed: hashSeed)
        return slot
    }

    /// Every push service of a decoded event is to be called.
    mutating func openServices(_ slot: Int32, value: RawSpan, hashSeed: UInt64) {
        let place = Int(slot)
        slots[place].open = slots[place].event.pushServices
        slots[place].firstAttemptAt = slots[place].event.firstAttemptAt
        for service in slots[place].open {
            let index = self.place(slot, service)
            services[index] = ServiceState()
            services[index].attempts = slots[place].event.attempts
            services[index].status = slots[place].event.lastStatus ?? 0
        }
        hashNames(slot, value: value, seed: hashSeed)
    }

    /// Notes what the event's source, campaign and user are told apart by.
    private mutating func hashNames(_ slot: Int32, value: RawSpan, seed: UInt64) {
        let hashes = withSlot(slot) { $0.event.hashes(value: value, seed: seed) }
        slots[Int(slot)].sourceHash = hashes.source
        slots[Int(slot)].campaign = hashes.campaign
        slots[Int(slot)].userHash = hashes.user
    }

    /// Gives the slot back.
    mutating func free(_ slot: Int32) {
        let place = Int(slot)
        switch slots[place].phase {
        case .waiting: waitingCount -= 1
        case .refused: refusedCount -= 1
        case .free, .behindUser, .active, .settling: break
        }
        slots[place].phase.become(.free)
        slots[place].generation &+= 1
        slots[place].holdsSource = false
        slots[place].isOrdered = false
        slots[place].failure = nil
        slots[place].failures.removeAll(keepingCapacity: true)
        slots[place].open = PushServiceSet()
        slots[place].callsOut = 0
        slots[place].refusals = 0
        bytes -= slots[place].bytes
        bytesByClass[Int(slots[place].callClass)] -= slots[place].bytes
        slots[place].event.releaseMemory(above: Self.keptScratch)
        slots[place].bytes = 0
        freeSlots.append(slot)
    }
}

// MARK: The way of an event

extension EventTable {
    /// It is its turn to be called.
    mutating func activate(_ slot: Int32, now: MonotonicTime) {
        slots[Int(slot)].phase.become(.active)
        slots[Int(slot)].activeSince = now
    }

    mutating func wait(_ slot: Int32) {
        slots[Int(slot)].phase.become(.waiting)
        waitingCount += 1
    }

    mutating func endWait(_ slot: Int32) {
        waitingCount -= 1
        slots[Int(slot)].phase.become(.active)
    }

    /// Lines the event up in a line of events that are called one after the other; true when it is first.
    mutating func lineUp(_ slot: Int32, in line: UInt64) -> Bool {
        slots[Int(slot)].isOrdered = true
        guard order.enter(slot, line: line) else {
            slots[Int(slot)].phase.become(.behindUser)
            return false
        }
        return true
    }

    /// The first event of the line in which this one is, and how many are before this one.
    func ahead(of slot: Int32) -> (first: Int32, count: Int)? { order.ahead(of: slot) }

    /// How many events there are in a line.
    func lineCount(of line: UInt64) -> Int { order.count(line: line) }

    /// It goes behind so many earlier events of its user.
    mutating func noteBehind(_ slot: Int32, _ count: Int) { slots[Int(slot)].behind = count }

    /// Which of its user's events it has its order among.
    mutating func setStream(_ slot: Int32, _ stream: UInt64) { slots[Int(slot)].stream = stream }

    /// Everything about the event is decided, and its turn among its user's events is over.
    ///
    /// - Returns: Whose turn it is.
    mutating func settle(_ slot: Int32) -> Int32? {
        slots[Int(slot)].phase.become(.settling)
        guard slots[Int(slot)].isOrdered else { return nil }
        slots[Int(slot)].isOrdered = false
        // During a stop the followers have been given back already.
        guard let next = order.leave(slot), slots[Int(next)].phase == .behindUser else { return nil }
        return next
    }

    /// An event that could not be read has no push services.
    mutating func settleUndecodable(_ slot: Int32) {
        slots[Int(slot)].phase.become(.settling)
        slots[Int(slot)].open = PushServiceSet()
    }

    /// A record of the event was refused.
    mutating func isolate(_ slot: Int32) {
        refusedCount += 1
        slots[Int(slot)].phase.become(.refused)
    }

    /// The place of the topic that refused its record.
    mutating func setRefusing(_ slot: Int32, _ topic: Int) { slots[Int(slot)].refusingTopic = topic }

    /// A record of it was refused, and it is to blame itself; how often that has been so.
    mutating func countRefusal(_ slot: Int32) -> Int64 {
        slots[Int(slot)].refusals += 1
        return slots[Int(slot)].refusals
    }

    /// An event of which a record was refused is tried again.
    mutating func tryAgain(_ slot: Int32) {
        slots[Int(slot)].phase.become(.settling)
        refusedCount -= 1
    }

    /// The events behind this one go elsewhere; the first of them, each followed by ``leaveLine(_:)``.
    mutating func takeFollowers(of slot: Int32) -> Int32? { order.takeFollowers(of: slot) }

    /// A follower goes elsewhere; the next one.
    mutating func leaveLine(_ follower: Int32) -> Int32? {
        slots[Int(follower)].isOrdered = false
        return order.behind(follower)
    }

    /// No event waits for another any more.
    mutating func forgetOrder() { order.removeAll() }

    /// It holds back the rest of its retry partition, or does not any more.
    mutating func setHoldsSource(_ slot: Int32, _ holds: Bool) { slots[Int(slot)].holdsSource = holds }

    /// It holds up others for too long.
    mutating func noteBlocking(_ slot: Int32) { slots[Int(slot)].isBlocking = true }

    /// Its record was copied.
    mutating func noteKept(_ slot: Int32) { slots[Int(slot)].isKept = true }

    /// Every active event counts as active only from now on.
    mutating func restartActive(now: MonotonicTime) {
        for index in slots.indices where slots[index].phase == .active { slots[index].activeSince = now }
    }

    /// The offsets of a partition mean nothing any more, from this one on.
    mutating func forgetOffsets(of partition: Int32, from offset: Int64) {
        for index in slots.indices where slots[index].partition == partition && slots[index].offset >= offset {
            slots[index].offset = Slot.noOffset
        }
    }

    /// What the event is remembered by; 0 when it is not.
    mutating func setIdentity(_ slot: Int32, _ identity: UInt64) {
        slots[Int(slot)].identity = identity
        slots[Int(slot)].mayBeDuplicate = false
    }

    /// - Parameters:
    ///   - number: The push service's number in the memory of notifications.
    ///   - first: The number of the one that it may be a duplicate of.
    mutating func remember(_ slot: Int32, _ service: Int, as number: Int, first: Int?) {
        let index = place(slot, service)
        services[index].memory = number
        services[index].first = first ?? -1
        if first != nil { slots[Int(slot)].mayBeDuplicate = true }
    }

    /// It is no duplicate of the one before it.
    mutating func forgetFirst(_ index: Int) { services[index].first = -1 }
}

// MARK: The way of a push service

extension EventTable {
    mutating func want(_ index: Int) { services[index].phase.become(.wanted) }

    mutating func rest(_ index: Int) { services[index].phase.become(.resting) }

    mutating func giveBack(_ index: Int) { services[index].phase.become(.idle) }

    mutating func awaitCredentials(_ index: Int) { services[index].phase.become(.awaitingCredentials) }

    /// When its credentials were refused, as the number of the latest call of all.
    mutating func noteRefused(_ index: Int, at sequence: UInt64) { services[index].refusedAt = sequence }

    mutating func beginCall(_ token: CallToken, sequence: UInt64, now: WallTime) {
        let (index, place) = (service(token), Int(token.slot.index))
        services[index].phase.become(.calling)
        services[index].sequence = sequence
        if slots[place].firstAttemptAt == nil { slots[place].firstAttemptAt = now }
        slots[place].callsOut += 1
        slots[place].wasCalled = true
    }

    mutating func endCall(_ token: CallToken, _ result: borrowing CallResult) {
        let index = service(token)
        slots[Int(token.slot.index)].callsOut -= 1
        services[index].isHanging = false
        services[index].isSuspect = false
        if result.status != 0 { services[index].status = result.status }
        services[index].detail = result.detail ?? result.failure?.word
    }

    mutating func noteHanging(_ index: Int) { services[index].isHanging = true }

    mutating func noteSuspect(_ index: Int) { services[index].isSuspect = true }

    mutating func countAttempt(_ index: Int) { services[index].attempts += 1 }

    mutating func countFailure(_ slot: Int32, _ failure: FailedAttempt) {
        services[place(slot, Int(failure.service))].attempts += 1
        slots[Int(slot)].failures.append(failure)
    }

    /// True when every push service of the event is decided.
    mutating func decide(_ slot: Int32, _ service: Int, _ verdict: ServiceState.Verdict, now: WallTime) -> Bool {
        let index = place(slot, service)
        services[index].phase.become(.decided)
        services[index].verdict = verdict
        services[index].decidedAt = now
        slots[Int(slot)].open.remove(service)
        return slots[Int(slot)].isDecided
    }

    /// What was to come again can only be kept as a dead letter.
    mutating func replaceVerdict(_ index: Int, _ reason: DeadLetterReason, now: WallTime) {
        services[index].verdict = .dead(reason)
        services[index].decidedAt = now
    }
}

extension DecodedEvent {
    /// What its source, its campaign and its user are told apart by; 0 without a source or a campaign.
    fileprivate func hashes(value: RawSpan, seed: UInt64) -> (source: UInt64, campaign: UInt64, user: UInt64) {
        (
            source.isPresent ? ByteHash.hash(bytes(of: source, value: value), seed: seed) : 0,
            campaign.isPresent ? Campaigns.hash(bytes(of: campaign, value: value), seed: seed) : 0,
            ByteHash.hash(bytes(of: user, value: value), seed: seed)
        )
    }
}
