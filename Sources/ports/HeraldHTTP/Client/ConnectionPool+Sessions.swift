internal import CNGHTTP2
public import HeraldTime

// Connections that carry many calls at once, over HTTP/2.
extension ConnectionPool {
    /// Whether ``flush(now:)`` may have something to do; never over HTTP/1.1.
    public var hasUnwritten: Bool { !dirtySlots.isEmpty }

    /// Writes the unwritten parts of calls; to be called before each wait of the loop, so that many go out at once.
    ///
    /// Returns false when that may have ended calls, so that the loop should not wait: a connection was lost, or a
    /// stream ended with the frame that resets it.
    public mutating func flush(now: MonotonicTime) -> Bool {
        var isQuiet = true
        state.shared.turn()
        while let slot = dirtySlots.popLast() {
            guard let session = sessions[slot], let transport = connector.transport(slot: slot) else { continue }
            session.isDirty = false
            let result = session.write { transport.send($0) }
            if session.hasOutcomes {
                isQuiet = false
                takeOutcomes(slot, session, now: now)
            }
            guard case .failed = result else { continue }
            isQuiet = false
            let (fault, failure) = (session.failure, transport.failure)
            transport.recordNextFailure()
            // A GOAWAY, or the alert with the reason, may lie there already.
            let seen = read(slot, session, transport, now: now)
            loseSession(slot, fault ?? seen ?? failure, now: now)
        }
        if !isQuiet { carryOutActions(now) }
        return isQuiet
    }

    private mutating func markDirty(_ slot: Int, _ session: HTTP2Session) {
        if session.isDirty { return }
        session.isDirty = true
        dirtySlots.append(slot)
    }

    mutating func beginSession(_ slot: Int, now: MonotonicTime) {
        // It was on its way when HTTP/1.1 was required.
        if http1Until != nil { return state.discard(slot) }
        guard let session = HTTP2Session(isEncrypted: isEncrypted, keepsLocation: keepsLocation) else {
            let failure = Failure(kind: .connectFailed, detail: "no memory for HTTP/2", isLocal: true)
            return connectFailed(slot, failure, now: now)
        }
        sessions[slot] = session
        state.connectedShared(slot, now: now)
        markDirty(slot, session)
        // TLS may have read beyond its handshake, which the socket does not show.
        receive(slot, session, now: now)
    }

    mutating func sessionReady(_ slot: Int, event: ReadyEvent, now: MonotonicTime) {
        guard let session = sessions[slot] else { return }
        if event.isWritable { markDirty(slot, session) }
        if event.isReadable { receive(slot, session, now: now) }
    }

    private mutating func receive(_ slot: Int, _ session: HTTP2Session, now: MonotonicTime) {
        guard let transport = connector.transport(slot: slot) else { return }
        if let failure = read(slot, session, transport, now: now) { return loseSession(slot, failure, now: now) }
        if sessions[slot] != nil { markDirty(slot, session) }
    }

    /// Reads the arrived bytes, and settles their calls; returns the reason when the connection has become unusable.
    private mutating func read(
        _ slot: Int, _ session: HTTP2Session, _ transport: Transport, now: MonotonicTime
    ) -> Failure? {
        var failure: Failure?
        reading: while true {
            switch transport.receive(into: receiveBuffer) {
            case .bytes(let count):
                if !session.receive(UnsafeRawBufferPointer(rebasing: receiveBuffer[..<count])) {
                    failure = session.failure ?? .goneAway
                    session.sayGoodbye { transport.send($0) }
                    break reading
                }
            case .wouldBlock: break reading
            case .end:
                failure = .goneAway
                break reading
            case .failed:
                failure = transport.failure
                break reading
            }
        }
        state.heard(slot, now: now)
        if session.wantsHTTP1, mayFallBack { fallBack(from: slot, now) }
        takeOutcomes(slot, session, now: now)
        takeNews(slot, session, now: now)
        return failure
    }

    private mutating func takeOutcomes(_ slot: Int, _ session: HTTP2Session, now: MonotonicTime) {
        session.takeOutcomes { stream, kind, isSent in
            let call = stream.call
            switch kind {
            case .answered:
                state.answered(
                    call, on: slot, status: Int(stream.answer.status), retryAfter: stream.answer.retryAfter,
                    date: stream.answer.date, location: stream.answer.location, body: stream.answer.body, now: now)
            case .refused: state.refused(call, on: slot, stream.failure(kind), now: now)
            case .unwanted where mayFallBack: state.unwanted(call, on: slot)
            case .unwanted, .lost, .broken: state.failed(call, on: slot, stream.failure(kind), isSent: isSent, now: now)
            }
        }
    }

    private mutating func takeNews(_ slot: Int, _ session: HTTP2Session, now: MonotonicTime) {
        guard session.takeNews() else { return }
        // A call waits for the connection that is made instead.
        if session.wantsHTTP1, mayFallBack, state.isGreeting(slot) { return state.discard(slot) }
        if session.isGoingAway, state.isGreeting(slot) { return loseSession(slot, .goneAway, now: now) }
        if let places = session.places { state.offers(slot, places: places, now: now, using: &randomness) }
        if session.isGoingAway { state.leaving(slot) }
    }

    /// Discards the slot's unusable connection, whatever its phase.
    mutating func loseSession(_ slot: Int, _ failure: Failure, now: MonotonicTime) {
        let session = sessions[slot]
        // Nothing is written to it any more, until its slot is closed.
        sessions[slot] = nil
        if state.isGreeting(slot) { return connectFailed(slot, failure, now: now) }
        session?.forEachOpen { stream, isUntouched, isSent in
            if isUntouched {
                state.refused(stream.call, on: slot, failure, now: now)
            } else {
                state.failed(stream.call, on: slot, failure.with(stream.fragment), isSent: isSent, now: now)
            }
        }
        state.lost(slot, failure, now: now)
    }

    // MARK: Required HTTP/1.1

    private var mayFallBack: Bool { versions == .agreed }

    /// Falls back to HTTP/1.1, which the other side requires: new connections offer nothing else for a while, and
    /// shared ones take no more calls.
    private mutating func fallBack(from slot: Int, _ now: MonotonicTime) {
        state.leaving(slot)
        guard http1Until == nil else { return }
        http1Until = now.advanced(by: Self.fallbackTime)
        connector.offer(.http1)
        state.fallBack()
    }

    /// Offers HTTP/2 again after a while, before a connection is made.
    mutating func offerAgain(_ now: MonotonicTime) {
        guard let end = http1Until, end <= now else { return }
        http1Until = nil
        connector.offer(versions)
        state.offerAgain()
    }

    // MARK: Calls

    mutating func submit(_ call: Int32, _ slot: Int, now: MonotonicTime) {
        guard let session = sessions[slot] else { return }
        let keepsBody = state.calls[call].keepsBody
        if state.calls.withRequest(of: call, { session.submit(call: call, $0, keepsBody: keepsBody) }) {
            return markDirty(slot, session)
        }
        // A connection has a limit of streams, and memory is finite.
        state.refused(call, on: slot, .noStream, now: now)
        state.leaving(slot)
    }

    mutating func abandon(_ call: Int32, _ slot: Int) {
        guard let session = sessions[slot] else { return }
        session.abandon(call: call)
        markDirty(slot, session)
    }

    mutating func ask(_ slot: Int) {
        guard let session = sessions[slot] else { return }
        session.ask()
        markDirty(slot, session)
    }

    /// Updates the progress of calls and answers, before those end whose deadline has passed.
    mutating func learnHowFar(_ now: MonotonicTime) {
        guard let earliest = state.calls.earliest, state.calls[earliest].deadline <= now else { return }
        for slot in state.slots.indices {
            guard case .busy(let call, _, _) = state.slots[slot].phase else { continue }
            state.calls[call].fragment = connection(slot)?.reader.fragment
        }
        for slot in state.shared.slots {
            sessions[slot]?.forEachOpen { stream, _, isSent in
                state.calls[stream.call].isWritten = isSent
                state.calls[stream.call].fragment = stream.fragment
            }
        }
    }
}

extension HTTP2Streams.Stream {
    var fragment: String? { answer.status > 0 ? AnswerReader.fragment(status: answer.status) : nil }

    func failure(_ kind: HTTP2Streams.Outcome.Kind) -> Failure { reason(kind).with(fragment) }

    private func reason(_ kind: HTTP2Streams.Outcome.Kind) -> Failure {
        switch kind {
        case .answered, .refused:
            return Failure(kind: .connectionReset, detail: "the other side refused the call unread")
        case .unwanted:
            return Failure(kind: .brokenHTTP, detail: "the other side wants HTTP/1.1 for this call")
        case .lost(let code):
            let name = String(cString: nghttp2_http2_strerror(code))
            return Failure(kind: .connectionReset, detail: "the other side reset the call's stream: \(name)")
        case .broken(let code):
            let name = String(cString: nghttp2_http2_strerror(code))
            let detail = fault.map(AnswerReader.describe) ?? "the answer breaks the rules of HTTP/2: \(name)"
            return Failure(kind: .brokenHTTP, detail: detail)
        }
    }
}
