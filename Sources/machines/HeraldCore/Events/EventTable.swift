import HeraldEvents
import HeraldKernel
import HeraldTime

/// The events in memory, each in a slot, and the state of each of their push services.
///
/// No other part writes them. ``Slot/Phase`` and ``ServiceState/Phase`` have the transitions: any other stops a debug
/// build and the simulation.
struct EventTable: ~Copyable, Sendable {
    /// The bytes of a scratch buffer that a slot keeps: one large event must not enlarge one of thousands for good.
    private static let keptScratch = 1_024
    /// The initial number of slots.
    ///
    /// It doubles when all are taken, up to the capacity. A slot has half a kilobyte, and a worker with little to do
    /// needs a few hundred.
    private static let firstSlots = 256

    /// The most events.
    private(set) var capacity: Int
    /// The number of push services.
    let width: Int
    private(set) var slots: [Slot]
    /// A place for each push service of each slot: see ``place(_:_:)``.
    private(set) var services: [ServiceState]
    private var freeSlots: [Int32]
    private var order: UserOrder
    /// The number of events that wait for their moment.
    private(set) var waitingCount = 0
    /// The number of settled events that are left out of transactions for a while.
    private(set) var refusedCount = 0
    /// How many events wait because the topic of a place refuses a record for its own sake, from the first refusal until
    /// they are durable.
    private(set) var culprits: [Int: Int] = [:]
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

    /// Raises the capacity, which never shrinks.
    mutating func grow(capacity: Int) { self.capacity = capacity }

    /// Adds slots when none is free, within the capacity.
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

    /// Calls `body` with the event in a slot without copying it.
    @inline(__always)
    func withSlot<Result>(_ slot: Int32, _ body: (borrowing Slot) throws -> Result) rethrows -> Result {
        precondition(slots.indices.contains(Int(slot)), "no such slot")
        // As an array's element it would be copied, a reference count for each of its arrays.
        return try slots.withUnsafeBufferPointer { try body($0[Int(slot)]) }
    }

    /// The number of events.
    var count: Int { slots.count - freeSlots.count }

    /// The number of further events within the capacity.
    var room: Int { capacity - count }

    /// The place of an event's push service in ``services``.
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

    /// The time since which an event waits for its outcome: its first publication, its given moment, or the end of its
    /// user's quiet hours.
    func waitsSince(_ slot: Int32) -> WallTime {
        let published = slots[Int(slot)].publishedAt
        let since = max(published, slots[Int(slot)].event.notBefore ?? published)
        return slots[Int(slot)].event.isHeldForQuietHours ? max(since, slots[Int(slot)].event.dueAt ?? since) : since
    }

    /// Calls `body` with every event, in no order.
    func forEachPresent(_ body: (Int32) -> Void) {
        var left = count
        for index in slots.indices where left > 0 && slots[index].phase != .free {
            left -= 1
            body(Int32(index))
        }
    }

    /// Sets the number of classes of sources, while there is no event.
    mutating func divide(classes: Int) { bytesByClass = Array(repeating: 0, count: classes) }
}

// MARK: Coming and going

extension EventTable {
    /// A record before it is decoded.
    struct Arrival {
        var source: Int
        var callClass: Int
        /// The place of its request topic; a retry's is in its headers.
        var requestTopic: Int
        /// The index of its partition in the assignment.
        var partition: Int32
        var offset: Int64
        var timestamp: WallTime?
        var isRetry: Bool
        /// The bytes of its key, value and headers.
        var bytes: Int
    }

    /// Decodes a record into the next free slot, which exists.
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

    /// Puts an unreadable range into the next free slot, which exists.
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

    /// Notes the request topic found in a retry's headers.
    mutating func findRequestTopic(_ slot: Int32, value: RawSpan, among topics: RequestTopics) {
        let place = withSlot(slot) { topics.place(of: $0.event.bytes(of: $0.event.originTopic, value: value)) }
        slots[Int(slot)].requestTopic = Int32(place)
    }

    /// The fault in an event's publication to a request topic with this many partitions.
    func publisherFault(
        of slot: Int32, key: RawSpan?, value: RawSpan, headers: HeaderList, partition: Int32, count: Int
    ) -> PublisherFault? {
        withSlot(slot) {
            $0.event.publisherFault(key: key, value: value, partition: partition, of: count, headers: headers)
        }
    }

    /// Decodes a request record into the next free slot without taking it; `nil` when it is no event or no slot is
    /// free.
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

    /// Opens every push service of a decoded event.
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

    /// Notes the hashes of the event's source, campaign and user.
    private mutating func hashNames(_ slot: Int32, value: RawSpan, seed: UInt64) {
        let hashes = withSlot(slot) { $0.event.hashes(value: value, seed: seed) }
        slots[Int(slot)].sourceHash = hashes.source
        slots[Int(slot)].campaign = hashes.campaign
        slots[Int(slot)].userHash = hashes.user
    }

    /// Notes what recalls the event, its class, and how long after quiet hours it leaves.
    mutating func setLastWord(
        _ slot: Int32, identity: UInt64, kept: UInt64, _ eventClass: EventClass, quietShift: Milliseconds
    ) {
        let place = Int(slot)
        slots[place].recallIdentity = identity
        slots[place].keptHash = kept
        slots[place].eventClass = eventClass
        slots[place].quietShift = quietShift
        slots[place].zone = .unnamed
    }

    /// Notes by what caps count the event.
    mutating func setCap(_ slot: Int32, event: UInt64, source: UInt8) {
        slots[Int(slot)].capEvent = event
        slots[Int(slot)].capSource = source
    }

    /// Notes the zone that the event names.
    mutating func setZone(_ slot: Int32, _ zone: QuietWindow.Zone) { slots[Int(slot)].zone = zone }

    /// Notes that quiet hours hold nothing of the event.
    mutating func noteQuietIgnored(_ slot: Int32, _ why: QuietIgnored) { slots[Int(slot)].quietIgnored = why }

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
        slots[place].quietIgnored = nil
        slots[place].failures.removeAll(keepingCapacity: true)
        slots[place].open = PushServiceSet()
        slots[place].callsOut = 0
        if slots[place].refusals > 0 { countCulprit(of: slots[place].refusingTopic, -1) }
        slots[place].refusals = 0
        slots[place].isDetoured = false
        bytes -= slots[place].bytes
        bytesByClass[Int(slots[place].callClass)] -= slots[place].bytes
        slots[place].event.releaseMemory(above: Self.keptScratch)
        slots[place].bytes = 0
        freeSlots.append(slot)
    }
}

// MARK: The way of an event

extension EventTable {
    /// Makes the event active, in its turn.
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

    /// The first event of this one's line, and the number of events before this one.
    func ahead(of slot: Int32) -> (first: Int32, count: Int)? { order.ahead(of: slot) }

    /// The number of events in a line.
    func lineCount(of line: UInt64) -> Int { order.count(line: line) }

    /// Notes the number of its user's earlier events that it was deferred behind.
    mutating func noteBehind(_ slot: Int32, _ count: Int) { slots[Int(slot)].behind = count }

    /// Sets the stream of its user's events in which it has its order.
    mutating func setStream(_ slot: Int32, _ stream: UInt64) { slots[Int(slot)].stream = stream }

    /// Settles the event, which ends its turn among its user's events.
    ///
    /// - Returns: The next event in turn.
    mutating func settle(_ slot: Int32) -> Int32? {
        slots[Int(slot)].phase.become(.settling)
        guard slots[Int(slot)].isOrdered else { return nil }
        slots[Int(slot)].isOrdered = false
        // During a stop the followers have been given back already.
        guard let next = order.leave(slot), slots[Int(next)].phase == .behindUser else { return nil }
        return next
    }

    /// Settles an undecodable event, which has no push services.
    mutating func settleUndecodable(_ slot: Int32) {
        slots[Int(slot)].phase.become(.settling)
        slots[Int(slot)].open = PushServiceSet()
    }

    /// Isolates the event, because one of its records was refused.
    mutating func isolate(_ slot: Int32) {
        refusedCount += 1
        slots[Int(slot)].phase.become(.refused)
    }

    /// Notes that a refused retry of it goes to another delay's topic.
    mutating func noteDetour(_ slot: Int32) { slots[Int(slot)].isDetoured = true }

    /// Sets the place of the topic that refused its record.
    mutating func setRefusing(_ slot: Int32, _ topic: Int) {
        let place = Int(slot)
        if slots[place].refusals > 0 {
            countCulprit(of: slots[place].refusingTopic, -1)
            countCulprit(of: topic, 1)
        }
        slots[place].refusingTopic = topic
    }

    /// Counts a refusal for the event's own sake; returns the number of refusals.
    mutating func countRefusal(_ slot: Int32) -> Int64 {
        if slots[Int(slot)].refusals == 0 { countCulprit(of: slots[Int(slot)].refusingTopic, 1) }
        slots[Int(slot)].refusals += 1
        return slots[Int(slot)].refusals
    }

    private mutating func countCulprit(of topic: Int, _ change: Int) {
        let count = culprits[topic, default: 0] + change
        culprits[topic] = count == 0 ? nil : count
    }

    /// Tries an event with a refused record again.
    mutating func tryAgain(_ slot: Int32) {
        slots[Int(slot)].phase.become(.settling)
        refusedCount -= 1
    }

    /// Takes the events behind this one elsewhere; returns the first of them, each followed by ``leaveLine(_:)``.
    mutating func takeFollowers(of slot: Int32) -> Int32? { order.takeFollowers(of: slot) }

    /// Takes a follower elsewhere; returns the next one.
    mutating func leaveLine(_ follower: Int32) -> Int32? {
        slots[Int(follower)].isOrdered = false
        return order.behind(follower)
    }

    /// Forgets the order, because no event waits for another any more.
    mutating func forgetOrder() { order.removeAll() }

    /// Sets whether it holds back the rest of its retry partition.
    mutating func setHoldsSource(_ slot: Int32, _ holds: Bool) { slots[Int(slot)].holdsSource = holds }

    /// Notes that it holds up others for too long.
    mutating func noteBlocking(_ slot: Int32) { slots[Int(slot)].isBlocking = true }

    /// Notes that its record was copied.
    mutating func noteKept(_ slot: Int32) { slots[Int(slot)].isKept = true }

    /// Restarts the time of every active event.
    mutating func restartActive(now: MonotonicTime) {
        for index in slots.indices where slots[index].phase == .active { slots[index].activeSince = now }
    }

    /// Forgets the offsets of a partition from this one on, which have no meaning any more.
    mutating func forgetOffsets(of partition: Int32, from offset: Int64) {
        for index in slots.indices where slots[index].partition == partition && slots[index].offset >= offset {
            slots[index].offset = Slot.noOffset
        }
    }

    /// Sets the event's identity in the memory; 0 without one.
    mutating func setIdentity(_ slot: Int32, _ identity: UInt64) {
        slots[Int(slot)].identity = identity
        slots[Int(slot)].mayBeDuplicate = false
    }

    /// - Parameters:
    ///   - number: The push service's number in the memory of notifications.
    ///   - first: The number of the notification that it may duplicate.
    mutating func remember(_ slot: Int32, _ service: Int, as number: Int, first: Int?) {
        let index = place(slot, service)
        services[index].memory = number
        services[index].first = first ?? -1
        if first != nil { slots[Int(slot)].mayBeDuplicate = true }
    }

    /// Notes that it is no duplicate of the one before it.
    mutating func forgetFirst(_ index: Int) { services[index].first = -1 }
}

// MARK: The way of a push service

extension EventTable {
    mutating func want(_ index: Int) { services[index].phase.become(.wanted) }

    mutating func rest(_ index: Int) { services[index].phase.become(.resting) }

    mutating func giveBack(_ index: Int) { services[index].phase.become(.idle) }

    mutating func awaitCredentials(_ index: Int) { services[index].phase.become(.awaitingCredentials) }

    /// Notes a refusal of its credentials, with the number of the latest call of all.
    mutating func noteRefused(_ index: Int, at sequence: UInt64) { services[index].refusedAt = sequence }

    mutating func beginCall(_ token: CallToken, sequence: UInt64, now: WallTime) {
        let (index, place) = (service(token), Int(token.slot.index))
        services[index].phase.become(.calling)
        services[index].sequence = sequence
        services[index].calledAt = now
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

    /// Notes before which offset the preferences were applied by which its call begins, or is suppressed.
    mutating func notePreferences(_ slot: Int32, _ service: Int, before offset: Int64?) {
        services[place(slot, service)].preferencesOffset = offset
    }

    mutating func noteHanging(_ index: Int) { services[index].isHanging = true }

    mutating func noteSuspect(_ index: Int) { services[index].isSuspect = true }

    mutating func countAttempt(_ index: Int) { services[index].attempts += 1 }

    mutating func countFailure(_ slot: Int32, _ failure: FailedAttempt) {
        services[place(slot, Int(failure.service))].attempts += 1
        slots[Int(slot)].failures.append(failure)
    }

    /// Decides a push service; true when every one of the event is decided.
    mutating func decide(_ slot: Int32, _ service: Int, _ verdict: ServiceState.Verdict, now: WallTime) -> Bool {
        let index = place(slot, service)
        services[index].phase.become(.decided)
        services[index].verdict = verdict
        services[index].decidedAt = now
        slots[Int(slot)].open.remove(service)
        return slots[Int(slot)].isDecided
    }

    /// Replaces a retry that can only be kept as a dead letter.
    mutating func replaceVerdict(_ index: Int, _ reason: DeadLetterReason, adding words: String, now: WallTime) {
        services[index].verdict = .dead(reason)
        services[index].detail = [services[index].detail, words].compactMap(\.self).joined(separator: "; ")
        services[index].decidedAt = now
    }
}

extension DecodedEvent {
    /// The hashes of its source, campaign and user; 0 without a source or a campaign.
    fileprivate func hashes(value: RawSpan, seed: UInt64) -> (source: UInt64, campaign: UInt64, user: UInt64) {
        (
            source.isPresent ? ByteHash.hash(bytes(of: source, value: value), seed: seed) : 0,
            campaign.isPresent ? Campaigns.hash(bytes(of: campaign, value: value), seed: seed) : 0,
            ByteHash.hash(bytes(of: user, value: value), seed: seed)
        )
    }
}
