internal import HeraldTime

// Connections that carry many calls at once.
extension PoolState {
    /// The number of immediate repetitions of a call that was refused unread; after them it has failed.
    static let refusalsLimit: UInt8 = 3

    var sharedCount: Int { slots.count { if case .shared = $0.phase { true } else { false } } }

    /// Whether the slot's connection is made, and the other side has not sent its limit of calls.
    func isGreeting(_ slot: Int) -> Bool {
        if case .greeting = slots[slot].phase { true } else { false }
    }

    /// Notes that the slot's connection is made, and will carry many calls.
    mutating func connectedShared(_ slot: Int, now: MonotonicTime) {
        guard case .connecting = slots[slot].phase else { return }
        slots[slot].phase = .greeting
        shared.made(slot, now: now)
        sweepSoon(now)
    }

    /// Takes the other side's new limit of calls; those on their way stay.
    mutating func offers(
        _ slot: Int, places: Int, now: MonotonicTime, using generator: inout some RandomNumberGenerator
    ) {
        switch slots[slot].phase {
        case .greeting:
            connectingCount -= 1
            if let address = slots[slot].address { addresses.connected(address) }
            slots[slot].phase = .shared
            slots[slot].retireAt = now.advanced(by: .random(in: Self.ages, using: &generator))
        case .shared: break
        default: return
        }
        shared.offers(slot, places: places)
    }

    /// Places the call that has waited longest on a connection with fewer than `limit` calls.
    @inline(never)
    mutating func nextSubmission(
        of call: Int32, below limit: Int = SharedConnections.placesLimit, _ now: MonotonicTime
    ) -> Action? {
        while let slot = shared.nextFree(below: limit) {
            if slots[slot].retireAt <= now {
                leaving(slot)
                if let chore = nextChore() { return chore }
                continue
            }
            shared.take(slot, now: now)
            calls.assign(call, to: slot, now)
            calls[call].isWritten = false
            return .submit(slot: slot, call: call)
        }
        return nil
    }

    /// Notes that the slot's connection takes no more calls: the other side said so, or it is old.
    mutating func leaving(_ slot: Int) {
        guard case .shared = slots[slot].phase else { return }
        if shared.leave(slot) { discard(slot) }
    }

    /// Falls back to required HTTP/1.1: shared connections take no more calls, and the next ones carry one.
    mutating func fallBack() {
        shared.madeAnother()
        for slot in shared.slots { leaving(slot) }
    }

    /// Forgets what the next connection carries.
    mutating func offerAgain() { shared.expectAgreement() }

    mutating func heard(_ slot: Int, now: MonotonicTime) {
        guard case .shared = slots[slot].phase else { return }
        shared.heard(slot, now: now)
    }

    mutating func answered(
        _ call: Int32, on slot: Int, status: Int, retryAfter: [UInt8], date: [UInt8] = [], location: [UInt8],
        body: [UInt8], now: MonotonicTime
    ) {
        guard release(call, on: slot) else { return }
        completions.append(
            calls.release(call), now, status: status, isHTTP2: true, retryAfter: retryAfter, date: date,
            location: location, body: body)
    }

    /// Repeats a call that the other side has not read, or cannot have: at once, before the others.
    mutating func refused(_ call: Int32, on slot: Int, _ failure: Failure, now: MonotonicTime) {
        guard release(call, on: slot) else { return }
        calls[call].refusals += 1
        if calls[call].refusals > Self.refusalsLimit { return fail(call, failure, now: now) }
        calls.waitAgain(call)
    }

    /// Repeats a call that the other side has not processed and wants over HTTP/1.1: at once, before the others.
    mutating func unwanted(_ call: Int32, on slot: Int) {
        guard release(call, on: slot) else { return }
        calls[call].refusals = 0
        calls.waitAgain(call)
    }

    /// Ends a call without an answer; the other side may have read it if all of it `isSent`.
    mutating func failed(_ call: Int32, on slot: Int, _ failure: Failure, isSent: Bool, now: MonotonicTime) {
        guard release(call, on: slot) else { return }
        fail(call, failure, isSent: isSent, now: now)
    }

    /// Frees the call's place; false when the call has none there any more.
    private mutating func release(_ call: Int32, on slot: Int) -> Bool {
        guard case .shared = slots[slot].phase, calls[call].isUsed, calls[call].slot == slot else { return false }
        if shared.release(slot) { discard(slot) }
        return true
    }

    /// Abandons a call that is not wanted any more: a connection of its own ends, a shared one does not.
    mutating func abandon(_ call: Int32, on slot: Int) {
        guard case .shared = slots[slot].phase else { return discard(slot) }
        chores.append(.abandon(slot: slot, call: call))
        if shared.release(slot) { discard(slot) }
    }

    mutating func sweepShared(_ now: MonotonicTime) {
        for slot in shared.slots {
            if slots[slot].retireAt <= now { leaving(slot) }
            if case .closing = slots[slot].phase { continue }
            switch shared.silence(slot, greetingTimeout: greetingTimeout, now: now) {
            case .none: break
            case .ask: chores.append(.ask(slot: slot))
            case .over: chores.append(.giveUp(slot: slot))
            }
        }
    }
}
