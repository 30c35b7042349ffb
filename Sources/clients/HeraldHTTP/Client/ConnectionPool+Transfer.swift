internal import HeraldTime

// The bytes of requests and answers.
extension ConnectionPool {
    /// Gives waiting calls to idle connections, and makes more connections if that is not enough.
    mutating func dispatch(_ now: MonotonicTime) {
        while calls.longestWaiting != CallTable.none, let slot = idle.popLast() {
            guard let connection = connection(in: slot) else { continue }
            // What came since it was read last is no answer to this call. In a backlog a connection goes on at once, and on a
            // new one some servers answer before they are asked, to say that they have enough.
            let state = states[Int(slot)]
            let isSilent = !state.isPooled || state.idleSince == now || hasNothingLeft(connection)
            if state.retireAt <= now || !isSilent {
                drop(connection)
                continue
            }
            let call = calls.longestWaiting
            calls.stopWaiting(call)
            calls[call].connection = slot
            calls[call].sentAt = now
            states[Int(slot)].call = call
            states[Int(slot)].written = 0
            connection.reader.begin(keepsBody: calls[call].keepsBody)
            writeRequest(connection, now: now)
        }
        if calls.waitingCount > 0 { connectIfNeeded(now) }
    }

    mutating func connectionReady(_ connection: Connection, event: ReadyEvent, now: MonotonicTime) {
        let state = states[Int(connection.slot)]
        guard state.call != CallTable.none else { return checkIdle(connection) }
        if event.isWritable, state.written < calls[state.call].request.count {
            writeRequest(connection, now: now)
        }
        if event.isReadable, states[Int(connection.slot)].call != CallTable.none {
            readAnswer(connection, isEnding: event.isEnding, now: now)
        }
    }

    /// Nothing may come on a connection that carries no call, but for what TLS keeps to itself.
    private mutating func checkIdle(_ connection: Connection) {
        if case .wouldBlock = connection.transport.receive(into: receiveBuffer) { return }
        drop(connection)
    }

    private mutating func writeRequest(_ connection: Connection, now: MonotonicTime) {
        var state = states[Int(connection.slot)]
        let total = calls[state.call].request.count
        while state.written < total {
            let result = calls.withRequest(of: state.call) { request in
                connection.transport.send(UnsafeRawBufferPointer(rebasing: request[state.written...]))
            }
            switch result {
            case .bytes(let count):
                state.written += count
                states[Int(connection.slot)].written = state.written
            case .wouldBlock: return
            case .end, .failed: return writeFailed(connection, now: now)
            }
        }
    }

    private mutating func writeFailed(_ connection: Connection, now: MonotonicTime) {
        let failure = connection.transport.failure
        connection.transport.hearNextFailure()
        // An answer, or the alert that says why, may lie there already.
        readAnswer(connection, isEnding: true, now: now)
        if states[Int(connection.slot)].call != CallTable.none { end(connection, with: failure, now: now) }
    }

    private mutating func readAnswer(_ connection: Connection, isEnding: Bool, now: MonotonicTime) {
        let reader = connection.reader
        while true {
            switch connection.transport.receive(into: receiveBuffer) {
            case .bytes(let count):
                let isDrained = count < receiveBuffer.count && connection.transport.isDrainedByShortRead && !isEnding
                switch reader.feed(UnsafeRawBufferPointer(rebasing: receiveBuffer[..<count])) {
                case .incomplete: if isDrained { return }
                case .complete(let isReusable):
                    let isReusable = isReusable && !isEnding && (isDrained || hasNothingLeft(connection))
                    return finish(connection, isReusable: isReusable, now: now)
                case .broken(let fault):
                    let detail = AnswerReader.describe(fault)
                    return end(connection, with: Failure(kind: .brokenHTTP, detail: detail), now: now)
                }
            case .wouldBlock: return
            case .end:
                if case .complete = reader.end() { return finish(connection, isReusable: false, now: now) }
                let detail = "connection closed \(reader.hasBegun ? "within" : "before") the answer"
                return end(connection, with: Failure(kind: .connectionReset, detail: detail), now: now)
            case .failed:
                var failure = connection.transport.failure
                if reader.hasBegun { failure.kind = .connectionReset }
                return end(connection, with: failure, now: now)
            }
        }
    }

    private func hasNothingLeft(_ connection: Connection) -> Bool {
        if case .wouldBlock = connection.transport.receive(into: receiveBuffer) { return true }
        return false
    }

    private mutating func finish(_ connection: Connection, isReusable: Bool, now: MonotonicTime) {
        let slot = Int(connection.slot)
        let call = states[slot].call
        let isReusable =
            isReusable && states[slot].written == calls[call].request.count && now < states[slot].retireAt
        succeed(call, connection.reader, now: now)
        states[slot].call = CallTable.none
        if isReusable {
            states[slot].isPooled = true
            states[slot].idleSince = now
            idle.append(connection.slot)
        } else {
            drop(connection)
        }
    }

    private mutating func end(_ connection: Connection, with failure: Failure, now: MonotonicTime) {
        let state = states[Int(connection.slot)]
        let call = state.call
        drop(connection)
        states[Int(connection.slot)].call = CallTable.none
        if state.isPooled, state.written == 0, failure.kind == .connectionReset {
            // Closed while it was idle, and not a byte is out: another connection takes the call.
            calls[call].connection = CallTable.none
            calls.waitFirst(call)
        } else {
            fail(call, failure.kind, failure.detail, now: now)
        }
    }
}
