internal import HeraldTime

// The bytes of requests and answers.
extension ConnectionPool {
    mutating func connectionReady(_ slot: Int, event: ReadyEvent, now: MonotonicTime) {
        guard let connection = connection(slot) else { return sessionReady(slot, event: event, now: now) }
        guard state.isBusy(slot) else {
            // A connection without a call must be silent, except for TLS's own bytes.
            if !isSilent(connection, now: now) { state.lost(slot, .closedWhileIdle, now: now) }
            return
        }
        if event.isWritable, state.hasUnsent(slot) { writeRequest(slot, connection, now: now) }
        if event.isReadable, state.isBusy(slot) { readAnswer(slot, connection, isEnding: event.isEnding, now: now) }
    }

    mutating func sendRequest(_ slot: Int, ifSilent: Bool, keepsBody: Bool, now: MonotonicTime) {
        guard let connection = connection(slot) else { return }
        if ifSilent, !isSilent(connection, now: now) { return state.lost(slot, .closedWhileIdle, now: now) }
        connection.reader.begin(keepsBody: keepsBody)
        writeRequest(slot, connection, now: now)
    }

    private mutating func writeRequest(_ slot: Int, _ connection: Connection, now: MonotonicTime) {
        while let result = state.withUnsent(slot, { connection.transport.send($0) }) {
            switch result {
            case .bytes(let count): if state.sent(count, slot: slot) { return }
            case .wouldBlock: return
            case .end, .failed: return writeFailed(slot, connection, now: now)
            }
        }
    }

    private mutating func writeFailed(_ slot: Int, _ connection: Connection, now: MonotonicTime) {
        let failure = connection.transport.failure
        connection.transport.recordNextFailure()
        // An answer, or the alert with the reason, may lie there already.
        readAnswer(slot, connection, isEnding: true, now: now)
        if state.isBusy(slot) { state.lost(slot, failure, now: now) }
    }

    private mutating func readAnswer(_ slot: Int, _ connection: Connection, isEnding: Bool, now: MonotonicTime) {
        let (transport, reader) = (connection.transport, connection.reader)
        while true {
            switch transport.receive(into: receiveBuffer) {
            case .bytes(let count):
                let isDrained = count < receiveBuffer.count && transport.isDrainedByShortRead && !isEnding
                switch reader.feed(UnsafeRawBufferPointer(rebasing: receiveBuffer[..<count]), memo: &memo) {
                case .incomplete: if isDrained { return }
                case .complete(let isReusable):
                    if reader.hasSurplus { state.distrust(now) }
                    let isReusable = isReusable && !isEnding && (isDrained || isSilent(connection, now: now))
                    return answered(slot, reader, isReusable: isReusable, now: now)
                case .broken(let fault):
                    let fragment = reader.fragment
                    // The bytes may have followed the last answer.
                    if case .syntax = fault, fragment == nil { state.distrust(now) }
                    let failure = Failure(kind: .brokenHTTP, detail: AnswerReader.describe(fault)).with(fragment)
                    return state.lost(slot, failure, now: now)
                }
            case .wouldBlock: return
            case .end:
                if case .complete = reader.end() { return answered(slot, reader, isReusable: false, now: now) }
                let detail = "connection closed \(reader.hasBegun ? "within" : "before") the answer"
                let failure = Failure(kind: .connectionReset, detail: detail).with(reader.fragment)
                return state.lost(slot, failure, now: now)
            case .failed:
                var failure = transport.failure
                if reader.hasBegun { failure.kind = .connectionReset }
                return state.lost(slot, failure.with(reader.fragment), now: now)
            }
        }
    }

    private mutating func answered(_ slot: Int, _ reader: AnswerReader, isReusable: Bool, now: MonotonicTime) {
        state.answered(
            slot, status: Int(reader.status), retryAfter: reader.retryAfter, date: reader.date,
            location: reader.location, body: reader.body, isReusable: isReusable, now: now)
    }

    /// Whether nothing is left to read, not even an end.
    private mutating func isSilent(_ connection: Connection, now: MonotonicTime) -> Bool {
        switch connection.transport.receive(into: receiveBuffer) {
        case .wouldBlock: return true
        case .bytes(let count):
            // Some send 408 before they close an idle connection: no call asked for it.
            let isFarewell = receiveBuffer[..<count].dropFirst("HTTP/1.1".utf8.count).starts(with: " 408".utf8)
            if !isFarewell, connection.reader.hasBegun { state.distrust(now) }
            return false
        case .end, .failed: return false
        }
    }
}
