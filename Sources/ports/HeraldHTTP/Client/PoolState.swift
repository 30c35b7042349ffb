internal import HeraldTime

/// The decisions of a ``ConnectionPool``, without its sockets: the waiting calls, the connections that carry calls, and
/// the next action.
///
/// It has no I/O, clock or randomness: they come in as arguments. Events are methods; after each of them
/// ``nextAction(_:using:)`` returns the next action, until it returns `nil`.
///
/// A connection keeps its slot from the first attempt to its end. The slot's phases:
///
///     phase       event                      next phase
///     free        a call waits, none is idle  connecting; action `connect`
///     connecting  connected                   idle
///                 connectFailed               closing; another address, a pause, or a failed call
///                 renew                       closing
///     idle        a call waits                busy; action `send`
///                 lost, old, renew            closing
///     busy        answered                    idle; closing if it is old or cannot be used again
///                 lost                        closing; the call fails, or waits again if the connection was only stale
///                 deadline, cancel            closing
///     closing     action `close`              free
///
/// A connection that carries many calls at once (``SharedConnections``) has two phases of its own in place of idle and
/// busy:
///
///     connecting  connectedShared             greeting
///     greeting    offers                      shared
///                 connectFailed, renew        closing
///     shared      a call waits, a place free  shared; action `submit`
///                 answered, refused, failed   shared; closing if it leaves and this was its last call
///                 leaving, old, renew         shared until its last call ends, then closing
///                 deadline, cancel            shared; action `abandon`
///                 lost                        closing; what became of its calls was said before
struct PoolState: ~Copyable {
    enum Action: Equatable {
        /// Make a connection to the slot's ``PoolState/address(_:)``.
        case connect(slot: Int)
        /// Write the request of the call that the slot now carries, and keep its answer's body.
        ///
        /// With `ifSilent` the connection has to be checked first: bytes on it are no answer to this call.
        case send(slot: Int, ifSilent: Bool, keepsBody: Bool)
        /// Write the call's request on the slot's connection, beside others.
        case submit(slot: Int, call: Int32)
        /// Abandon a call that is not wanted any more; its connection stays.
        case abandon(slot: Int, call: Int32)
        /// Ask the other side of a silent connection for a sign of life.
        case ask(slot: Int)
        /// Give up the slot's connection, which was silent for too long.
        case giveUp(slot: Int)
        /// Close the connection, or give up making it.
        case close(slot: Int)
        case lookUp
    }

    enum Phase {
        case free
        case connecting
        /// Nothing was left to read at `since`; a new connection has carried no call yet.
        case idle(since: MonotonicTime, isNew: Bool)
        /// This many bytes of the request are written. A connection that `mayBeStale` waited for the call.
        case busy(call: Int32, written: Int, mayBeStale: Bool)
        /// Made to carry many calls; the other side has not sent its limit yet.
        case greeting
        case shared
        case closing
    }

    struct Slot {
        var phase = Phase.free
        /// The time from which it takes no more calls.
        var retireAt = MonotonicTime(nanoseconds: .max)
        /// Its target; `nil` when the proxy finds it.
        var address: AddressCache.Number?
    }

    static let connectingLimit = 32
    /// The same while it is unknown whether connections are shared.
    static let unknownConnectingLimit = 4
    /// The pause without new connections when this machine lacks a resource for them.
    static let scarcityPause: Milliseconds = .milliseconds(100)
    /// The time for which a connection takes calls; different for each, so that they do not all end together.
    ///
    /// So a name that moved is followed, and a backend that joins others behind a balancer gets its share.
    static let ages: ClosedRange<Milliseconds> = .minutes(1)...(.minutes(3))
    static let sweepInterval: Milliseconds = .seconds(5)
    /// The same for shared connections, which are searched for silent ones too.
    static let sharedSweepInterval: Milliseconds = .seconds(1)

    let host: String
    /// With a proxy, finding the backend's addresses is the proxy's task.
    let resolvesHost: Bool
    /// The time for which each connection carries one call alone, after bytes that belong to no answer.
    ///
    /// HTTP/1.1 has no mark that distinguishes such bytes from the next call's answer when they come after its request.
    static let distrustTime: Milliseconds = .minutes(1)
    var distrustedUntil = MonotonicTime.distantPast
    let greetingTimeout: Milliseconds
    var calls = CallTable()
    var slots: [Slot]
    var freeSlots: [Int]
    /// The idle slots, the last used one last.
    var idle: [Int] = []
    /// The actions before anything else.
    var chores: [Action] = []
    var connectingCount = 0
    var shared: SharedConnections
    /// The time from which connections may be made again after one that this machine could not make.
    var scarceUntil: MonotonicTime?
    var addresses: AddressCache
    var isLookingUp = false
    /// The time until which calls wait for the next look-up.
    var nextLookUp: MonotonicTime?
    var nextSweep: MonotonicTime?
    var completions = CompletionList()

    /// A state without connections.
    ///
    /// - Parameter address: the host as a URL writes it, when it is an address and no name.
    init(
        host: String, address: String?, limit: Int, resolvesHost: Bool, versions: HTTPVersions = .http1,
        greetingTimeout: Milliseconds = .seconds(10)
    ) {
        self.host = host
        shared = SharedConnections(versions)
        self.greetingTimeout = greetingTimeout
        self.resolvesHost = resolvesHost
        addresses = address.map { AddressCache(fixed: $0) } ?? AddressCache()
        slots = Array(repeating: Slot(), count: limit)
        freeSlots = (0..<limit).reversed()
        idle.reserveCapacity(limit)
    }

    mutating func raise(limit: Int) {
        freeSlots.insert(contentsOf: (slots.count..<limit).reversed(), at: 0)
        slots += Array(repeating: Slot(), count: limit - slots.count)
        idle.reserveCapacity(limit)
    }

    var connectionCount: Int {
        let closingCount = chores.count { if case .close = $0 { true } else { false } }
        return slots.count - freeSlots.count - closingCount - connectingCount
    }

    /// The time at which ``tick(_:)`` is due, or `other` if that is earlier.
    func nextDeadline(or other: MonotonicTime?) -> MonotonicTime? {
        var deadline = other
        func consider(_ moment: MonotonicTime?) {
            if let moment { deadline = deadline.map { min($0, moment) } ?? moment }
        }
        consider(nextSweep)
        if let call = calls.earliest { consider(calls[call].deadline) }
        if calls.waitingCount > 0 {
            consider(scarceUntil)
            consider(nextLookUp)
        }
        return deadline
    }

    /// Whether ``nextAction(_:using:)`` may have one.
    var mayAct: Bool { calls.waitingCount > 0 || !chores.isEmpty }

    /// The next action; `nil` when there is none until the next event.
    mutating func nextAction(
        _ now: MonotonicTime, using generator: inout some RandomNumberGenerator
    ) -> Action? {
        let call = calls.longestWaiting
        if call != nil, let slot = idle.last, slots[slot].retireAt <= now { discard(slot) }
        if !chores.isEmpty, let chore = nextChore() { return chore }
        guard let call else { return nil }
        guard let slot = idle.popLast(), case .idle(let since, let isNew) = slots[slot].phase else {
            if let action = nextSubmission(of: call, now) ?? nextConnection(now, using: &generator) { return action }
            // There may be no other one: then the other side's limit decides how many calls share a connection.
            let isLast = freeSlots.isEmpty && connectingCount == 0
            return isLast ? nextSubmission(of: call, below: .max, now) : nil
        }
        calls.assign(call, to: slot, now)
        // Some servers answer on a new connection before a request, to report that they are overloaded.
        let mayBeStale = since != now || !isNew
        slots[slot].phase = .busy(call: call, written: 0, mayBeStale: mayBeStale)
        return .send(slot: slot, ifSilent: mayBeStale, keepsBody: calls[call].keepsBody)
    }

    /// The next action before anything else; the slot of a connection that has to be closed is free.
    mutating func nextChore() -> Action? {
        guard let chore = chores.popLast() else { return nil }
        if case .close(let slot) = chore {
            slots[slot].phase = .free
            freeSlots.append(slot)
        }
        return chore
    }

    // MARK: Calls

    /// Accepts a call; `write` appends its request's bytes.
    mutating func begin(
        token: UInt64, deadline: MonotonicTime, now: MonotonicTime, keepsBody: Bool, write: (inout [UInt8]) -> Void
    ) {
        let call = calls.add(token: token, deadline: deadline, now: now, keepsBody: keepsBody)
        write(&calls[call].request)
        calls.waitLast(call)
    }

    /// Forgets a call; false when no call has this token.
    mutating func cancel(token: UInt64) -> Bool {
        guard let call = calls.find(token: token) else { return false }
        if let slot = calls[call].slot { abandon(call, on: slot) }
        calls.release(call)
        return true
    }

    /// Ends the calls whose deadline has passed, and idle connections that are old.
    mutating func tick(_ now: MonotonicTime) {
        if let due = nextSweep, due <= now { sweep(now) }
        while let call = calls.earliest, calls[call].deadline <= now {
            var detail = "no connection in time"
            var isSent = false
            if let slot = calls[call].slot {
                isSent = isBusy(slot) ? !hasUnsent(slot) : calls[call].isWritten
                detail = isSent ? "no complete answer in time" : "request not taken in time"
                if let fragment = calls[call].fragment { detail += ": \(fragment)" }
                abandon(call, on: slot)
            } else if resolvesHost, addresses.isEmpty {
                detail = "the name \(host) was not resolved in time"
            }
            fail(call, Failure(kind: .timeout, detail: detail), isSent: isSent, now: now)
        }
    }

    private mutating func sweep(_ now: MonotonicTime) {
        for slot in idle where slots[slot].retireAt <= now { discard(slot) }
        if !shared.slots.isEmpty { sweepShared(now) }
        let isShared = !shared.slots.isEmpty
        let interval = isShared ? Self.sharedSweepInterval : Self.sweepInterval
        nextSweep = isShared || connectionCount > 0 ? now.advanced(by: interval) : nil
    }

    mutating func closeAll() {
        while let call = calls.earliest { calls.release(call) }
        for slot in slots.indices { discard(slot) }
        chores.removeAll { if case .close = $0 { false } else { true } }
        nextSweep = nil
    }

    // MARK: Transfer

    func isBusy(_ slot: Int) -> Bool {
        if case .busy = slots[slot].phase { true } else { false }
    }

    func hasUnsent(_ slot: Int) -> Bool {
        if case .busy(let call, let written, _) = slots[slot].phase {
            written < calls[call].request.count
        } else {
            false
        }
    }

    /// Calls `body` with that part.
    func withUnsent<Value>(_ slot: Int, _ body: (UnsafeRawBufferPointer) -> Value) -> Value? {
        guard case .busy(let call, let written, _) = slots[slot].phase else { return nil }
        return calls.withRequest(of: call) { body(UnsafeRawBufferPointer(rebasing: $0[written...])) }
    }

    /// Counts written bytes of the slot's request; true when that is all of it.
    @discardableResult
    mutating func sent(_ count: Int, slot: Int) -> Bool {
        guard case .busy(let call, let written, let mayBeStale) = slots[slot].phase else { return true }
        slots[slot].phase = .busy(call: call, written: written + count, mayBeStale: mayBeStale)
        return written + count >= calls[call].request.count
    }

    mutating func answered(
        _ slot: Int, status: Int, retryAfter: [UInt8], date: [UInt8] = [], location: [UInt8] = [], body: [UInt8],
        isReusable: Bool, now: MonotonicTime
    ) {
        guard case .busy(let call, _, _) = slots[slot].phase else { return }
        let isKept = isReusable && !hasUnsent(slot) && now < slots[slot].retireAt && now >= distrustedUntil
        completions.append(
            calls.release(call), now, status: status, retryAfter: retryAfter, date: date, location: location,
            body: body)
        if isKept {
            slots[slot].phase = .idle(since: now, isNew: false)
            idle.append(slot)
        } else {
            discard(slot)
        }
    }

    mutating func distrust(_ now: MonotonicTime) {
        distrustedUntil = now.advanced(by: Self.distrustTime)
        for slot in idle { discard(slot) }
    }

    /// Ends the slot's connection, which is unusable.
    ///
    /// If it was only stale and no byte was written, another one takes its call.
    mutating func lost(_ slot: Int, _ failure: Failure, now: MonotonicTime) {
        let phase = slots[slot].phase
        let isSent = isBusy(slot) && !hasUnsent(slot)
        discard(slot)
        guard case .busy(let call, let written, let mayBeStale) = phase else { return }
        if mayBeStale, written == 0, failure.kind == .connectionReset {
            calls.waitAgain(call)
        } else {
            fail(call, failure, isSent: isSent, now: now)
        }
    }

    /// - Parameter isSent: the whole request is written: a server cannot act on less.
    mutating func fail(_ call: Int32, _ failure: Failure, isSent: Bool = false, now: MonotonicTime) {
        completions.append(
            calls.release(call), now, failure: failure.kind, isSent: isSent, body: failure.detail.utf8)
    }

    /// Ends the slot's connection or attempt; the caller has to end its call, if any.
    mutating func discard(_ slot: Int) {
        switch slots[slot].phase {
        case .free, .closing: return
        case .connecting: connectingCount -= 1
        case .greeting:
            connectingCount -= 1
            shared.ended(slot)
        case .shared: shared.ended(slot)
        case .idle: if let place = idle.lastIndex(of: slot) { idle.remove(at: place) }
        case .busy: break
        }
        if let address = slots[slot].address { addresses.released(address) }
        slots[slot] = Slot(phase: .closing)
        chores.append(.close(slot: slot))
    }
}
