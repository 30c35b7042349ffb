internal import HeraldThreads
public import HeraldTime

// Where connections come from and when they go.
extension ConnectionPool {
    /// How many connections are made at the same time.
    static var connectingLimit: Int { 32 }
    /// When the process has no descriptor left, none is asked for again within so long (milliseconds).
    private static var scarcityPause: Int64 { 100 }
    /// How long a connection takes calls (milliseconds), different for each, so that they do not all end together.
    ///
    /// A name that moved is followed, and a backend that joined others behind a balancer gets its share.
    private static var ages: ClosedRange<Int64> { 60_000...180_000 }
    /// Connections without a call are looked through for old ones this often (milliseconds).
    private static var sweepInterval: Int64 { 5_000 }

    /// Makes new connections with these files and this proxy; those that carry a call end with it.
    ///
    /// - Parameter proxy: with other credentials, perhaps; a pool without a proxy never gets one.
    public mutating func renewConnections(proxy: ProxyAddress?, tls: TLSFiles, now: MonotonicTime) {
        options.tls = tls
        options.proxy = proxy
        connector.use(options)
        for slot in states.indices {
            if let connection = connection(in: Int32(slot)) {
                states[slot].retireAt = now
                if states[slot].call == CallTable.none { drop(connection) }
            } else if connector.transport(slot: slot) != nil {
                // Its handshake may have the former files.
                connector.close(slot: slot)
                notConnected(Int32(slot))
            }
        }
        dispatch(now)
    }

    /// Makes the connections that waiting calls need.
    mutating func connectIfNeeded(_ now: MonotonicTime) {
        if let noneBefore {
            guard now >= noneBefore else { return }
            self.noneBefore = nil
        }
        while calls.waitingCount > connectingCount, connectingCount < Self.connectingLimit, let slot = freeSlots.last {
            var address: String?
            states[Int(slot)] = ConnectionState()
            if isResolving {
                guard let (number, text) = chooseAddress(now) else { return }
                states[Int(slot)].address = number
                address = text
            }
            freeSlots.removeLast()
            connectingCount += 1
            if let failure = connector.start(slot: Int(slot), address: address) {
                connectFailed(slot, failure, now: now)
                if noneBefore != nil { return }
            }
        }
    }

    mutating func takeConnectOutcomes(_ now: MonotonicTime) {
        while let outcome = connector.nextOutcome() {
            switch outcome {
            case .connected(let slot): connected(Int32(slot), now: now)
            case .failed(let slot, let failure): connectFailed(Int32(slot), failure, now: now)
            }
        }
    }

    private mutating func connected(_ slot: Int32, now: MonotonicTime) {
        guard let transport = connector.transport(slot: Int(slot)) else { return }
        let token = PoolToken(kind: .connection, number: Int(slot)).eventToken(owner: owner)
        do {
            try loop.add(transport.socket, token: token, interest: .edges)
        } catch {
            connector.close(slot: Int(slot))
            let failure = Failure(kind: .connectFailed, detail: error.description, isLocal: true)
            return connectFailed(slot, failure, now: now)
        }
        connectingCount -= 1
        keep(Connection(slot: slot, transport: transport))
        states[Int(slot)].retireAt = now.advanced(byMilliseconds: .random(in: Self.ages))
        if let address = states[Int(slot)].address { book.connected(address) }
        if nextSweep == nil { nextSweep = now.advanced(byMilliseconds: Self.sweepInterval) }
        idle.append(slot)
        dispatch(now)
        states[Int(slot)].isPooled = true
    }

    /// An attempt that failed is one call that failed, unless another address may do better; one that was refused is made
    /// once more.
    ///
    /// An attempt that took too long is none: calls have their own deadlines, and a younger call may still get through.
    /// Nor is one for which this machine had not what it takes: the call waits for one of the connections that there are.
    private mutating func connectFailed(_ slot: Int32, _ failure: Failure, now: MonotonicTime) {
        let address = states[Int(slot)].address
        notConnected(slot)
        if failure.isLocal || !FileDescriptorLimit.hasRoom {
            noneBefore = now.advanced(byMilliseconds: Self.scarcityPause)
            return
        }
        if let address, book.failed(address, now: now, entropy: .random(in: .min ... .max)) { return }
        if failure.kind == .connectionRefused, book.allowsAnotherTry() { return }
        guard failure.kind != .timeout, calls.waitingCount > 0 else { return }
        fail(calls.longestWaiting, failure.kind, failure.detail, now: now)
    }

    /// The slot's connection was not made.
    private mutating func notConnected(_ slot: Int32) {
        if let address = states[Int(slot)].address { book.released(address) }
        states[Int(slot)].address = nil
        freeSlots.append(slot)
        connectingCount -= 1
    }

    /// Closes connections without a call that are too old to take another one.
    mutating func sweep(_ now: MonotonicTime) {
        guard let due = nextSweep, due <= now else { return }
        for slot in idle where states[Int(slot)].retireAt <= now {
            if let connection = connection(in: slot) { drop(connection) }
        }
        nextSweep = connectionCount > 0 ? now.advanced(byMilliseconds: Self.sweepInterval) : nil
    }

    // MARK: Addresses

    /// Whether the pool finds the backend's addresses itself: with a proxy that is the proxy's task.
    private var isResolving: Bool { options.proxy == nil }

    /// The address of the next connection; `nil` when the name has to be looked up first.
    private mutating func chooseAddress(_ now: MonotonicTime) -> (number: AddressCache.Number, text: String)? {
        if book.wantsLookUp(now) { startLookUp(now) }
        switch book.choose(now, entropy: .random(in: .min ... .max)) {
        case .address(let number, let text): return (number, text)
        case .unknown:
            nextLookUp = resolver?.isBusy == true ? nil : book.nextLookUp
            return nil
        }
    }

    private mutating func startLookUp(_ now: MonotonicTime) {
        do {
            if resolver == nil {
                let made = try NameResolver(host: options.host, lookUp: lookUp)
                let token = PoolToken(kind: .resolver, number: 0).eventToken(owner: owner)
                try loop.add(made.descriptor, token: token, interest: .readable)
                resolver = made
            }
            try resolver?.start()
        } catch {
            // No descriptor or thread left.
            book.lookUpFailed(isGone: false, now: now)
        }
    }

    mutating func takeLookUp(_ now: MonotonicTime) {
        switch resolver?.takeAnswer() {
        case .addresses(let addresses): book.lookedUp(addresses, now: now)
        case .failed(let isGone, let reason):
            // Without a descriptor the system's resolver finds nothing either.
            let isLocal = !FileDescriptorLimit.hasRoom
            book.lookUpFailed(isGone: isGone && !isLocal, now: now)
            guard !isLocal, book.isEmpty, connectionCount == 0 else { return }
            while calls.waitingCount > 0 {
                let detail = "could not resolve host: \(options.host) (\(reason))"
                fail(calls.longestWaiting, .nameNotFound, detail, now: now)
            }
        case nil: break
        }
    }

    /// Why a call found no connection within its deadline.
    var noConnectionInTime: String {
        isResolving && book.isEmpty ? "the name \(options.host) was not resolved in time" : "no connection in time"
    }
}
