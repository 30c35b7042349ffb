internal import HeraldTime

// The making of connections, and their addresses.
extension PoolState {
    /// Ends the connections whose options differ from those of new ones; a connection with a call ends with it.
    mutating func renew(_ now: MonotonicTime) {
        for slot in slots.indices {
            switch slots[slot].phase {
            case .busy: slots[slot].retireAt = now
            case .shared: leaving(slot)
            default: discard(slot)
            }
        }
    }

    /// Makes a connection that a waiting call needs.
    @inline(never)
    mutating func nextConnection(
        _ now: MonotonicTime, using generator: inout some RandomNumberGenerator
    ) -> Action? {
        nextLookUp = nil
        if let scarceUntil, now < scarceUntil { return nil }
        scarceUntil = nil
        let limit = shared.expectedPlaces == nil ? Self.unknownConnectingLimit : Self.connectingLimit
        guard calls.waitingCount > connectingCount * (shared.expectedPlaces ?? 1), connectingCount < limit,
            let slot = freeSlots.last
        else { return nil }
        if resolvesHost {
            if !isLookingUp, addresses.wantsLookUp(now) {
                isLookingUp = true
                return .lookUp
            }
            guard case .address(let number, _) = addresses.choose(now, entropy: generator.next()) else {
                nextLookUp = isLookingUp ? nil : addresses.nextLookUp
                return nil
            }
            slots[slot].address = number
        }
        slots[slot].phase = .connecting
        freeSlots.removeLast()
        connectingCount += 1
        return .connect(slot: slot)
    }

    /// The target of the slot's connection, as a URL writes it; `nil` leaves it to the proxy.
    func address(_ slot: Int) -> String? { slots[slot].address.flatMap { addresses.text(of: $0) } }

    mutating func connected(_ slot: Int, now: MonotonicTime, using generator: inout some RandomNumberGenerator) {
        guard case .connecting = slots[slot].phase else { return }
        shared.madeAnother()
        connectingCount -= 1
        if let address = slots[slot].address { addresses.connected(address) }
        slots[slot].phase = .idle(since: now, isNew: true)
        slots[slot].retireAt = now.advanced(by: .random(in: Self.ages, using: &generator))
        idle.append(slot)
        if nextSweep == nil { nextSweep = now.advanced(by: Self.sweepInterval) }
    }

    /// Searches for silent connections from now on.
    mutating func sweepSoon(_ now: MonotonicTime) {
        let soon = now.advanced(by: Self.sharedSweepInterval)
        nextSweep = nextSweep.map { min($0, soon) } ?? soon
    }

    /// Notes that the slot's connection was not made.
    ///
    /// That fails one call, unless another address may do better; a refused attempt is repeated once. A timed-out
    /// attempt fails none: calls have their own deadlines, and a younger call may still get through. Nor does one that
    /// this machine could not make: the call waits for one of the existing connections.
    mutating func connectFailed(
        _ slot: Int, _ failure: Failure, now: MonotonicTime, using generator: inout some RandomNumberGenerator
    ) {
        let address = slots[slot].address
        discard(slot)
        if failure.isLocal {
            scarceUntil = now.advanced(by: Self.scarcityPause)
            return
        }
        if let address, addresses.failed(address, now: now, entropy: generator.next()) { return }
        if failure.kind == .connectionRefused, addresses.allowsAnotherTry() { return }
        if failure.kind != .timeout, let call = calls.longestWaiting { fail(call, failure, now: now) }
    }

    /// Takes the result of a look-up; without an address and a connection it fails all waiting calls.
    ///
    /// - Parameter isLocal: this machine lacked a resource for the look-up, so that nothing is known and no call fails.
    mutating func lookedUp(_ answer: NameResolver.Answer, isLocal: Bool, now: MonotonicTime) {
        isLookingUp = false
        switch answer {
        case .addresses(let found): addresses.lookedUp(found, now: now)
        case .failed(let isGone, let reason):
            addresses.lookUpFailed(isGone: isGone && !isLocal, now: now)
            guard !isLocal, addresses.isEmpty, connectionCount == 0 else { return }
            let failure = Failure(kind: .nameNotFound, detail: "could not resolve host: \(host) (\(reason))")
            while let call = calls.longestWaiting { fail(call, failure, now: now) }
        }
    }
}
