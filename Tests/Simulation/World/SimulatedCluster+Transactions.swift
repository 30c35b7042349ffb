/// The broker's state of a `transactional.id`.
struct TransactionalProducer {
    /// A producer with an older one is fenced.
    var epoch = 0
    /// The transaction that is open, or decided and not completed.
    var transaction: Int?
    /// The latest ended transaction: its holder's number and epoch, and whether it was committed.
    var ended: (epoch: Int, number: Int, committed: Bool)?
    /// Requests of a holder arrive in order: an earlier request comes over a closed connection.
    var latestRequest = 0
    /// The holder's number of a transaction that the coordinator has and its holder has forgotten.
    var forgotten: Int?
}

/// A transaction that the broker ends when it has been open for too long.
enum Expiry {
    case transaction(Int)
    /// A transaction that its producer, of this epoch, has forgotten.
    case forgotten(producer: Int, epoch: Int, number: Int)
}

/// A transaction, on the broker's side.
struct Transaction {
    enum State {
        case open
        /// Its end is decided; markers are not yet written everywhere.
        case prepared
        case committed
        case aborted
    }

    var producer: Int
    var epoch: Int
    /// The producer's count of its transactions.
    var number: Int
    var state = State.open
    /// Whether its end is decided and is a commit.
    var commits = false
    var places: [Place] = []
    var effects: [(effect: Effect, name: RecordName)] = []
    /// The records of a job.
    var jobRecords: [RecordName] = []
    var offsets: [Position] = []
    var markersLeft = 0
}

extension SimulatedCluster {
    /// The coordinator's answer to a request of a transactional producer.
    enum Coordination {
        /// Continue with this transaction.
        case transaction(Int, isNew: Bool)
        /// It was done before.
        case done
        /// Try again in a moment: the transaction before is not completed.
        case wait
        /// Another producer, or a time-out, took the `transactional.id` over.
        case fenced
        /// It comes too late to have an effect.
        case stale
    }

    /// Begins a producer: the former holder of the identifier is fenced, and its open transaction aborted.
    ///
    /// - Returns: The new epoch, or `nil` while a transaction is not completed.
    mutating func initialise(_ producer: Int) -> Int? {
        if let transaction = producers[producer]?.transaction {
            if transactions[transaction].state == .open {
                producers[producer]?.epoch += 1
                prepare(transaction, commits: false)
            }
            return nil
        }
        let epoch = (producers[producer]?.epoch ?? 0) + 1
        producers[producer] = TransactionalProducer(epoch: epoch)
        return epoch
    }

    /// Whether no later request of the same holder has arrived: a request that timed out and was sent again never comes
    /// after.
    mutating func admits(_ producer: Int, epoch: Int, request: Int) -> Bool {
        guard let state = producers[producer], state.epoch == epoch else { return true }
        producers[producer]?.latestRequest = max(request, state.latestRequest)
        return request >= state.latestRequest
    }

    /// The transaction of a write, or of offsets, with the producer's number of it; the first one opens it.
    mutating func transaction(of producer: Int, epoch: Int, number: Int) -> Coordination {
        guard var state = producers[producer], state.epoch == epoch else { return .fenced }
        if let transaction = state.transaction {
            guard transactions[transaction].state == .open else { return .wait }
            return transactions[transaction].number == number ? .transaction(transaction, isNew: false) : .stale
        }
        if let ended = state.ended, ended.epoch == epoch, ended.number >= number { return .stale }
        transactions.append(Transaction(producer: producer, epoch: epoch, number: number))
        state.transaction = transactions.count - 1
        producers[producer] = state
        return .transaction(transactions.count - 1, isNew: true)
    }

    /// Whether the partition is part of the holder's open transaction already.
    func holds(_ place: Place, of producer: Int, epoch: Int, number: Int) -> Bool {
        guard let transaction = openTransaction(of: producer, epoch: epoch) else { return false }
        return transactions[transaction].number == number && transactions[transaction].places.contains(place)
    }

    /// Writes a record in an open transaction.
    mutating func write(_ record: LogRecord, to place: Place, in transaction: Int, effect: Effect?) -> Int64 {
        var written = record
        written.transaction = transaction
        let offset = append(written, to: place)
        noteWrite(at: place, offset, in: transaction)
        let name = RecordName(place: place, offset: offset)
        if let effect {
            transactions[transaction].effects.append((effect, name))
        } else {
            transactions[transaction].jobRecords.append(name)
        }
        return offset
    }

    // MARK: Other producers

    /// Opens a publisher's transaction, whose end is known already, but not to readers.
    mutating func openForeign(commits: Bool) -> Int {
        var transaction = Transaction(producer: -1, epoch: 0, number: 0)
        transaction.commits = commits
        transactions.append(transaction)
        return transactions.count - 1
    }

    mutating func writeForeign(_ record: LogRecord, to place: Place, in transaction: Int) -> Int64 {
        var written = record
        written.transaction = transaction
        let offset = append(written, to: place)
        noteWrite(at: place, offset, in: transaction)
        return offset
    }

    /// Ends the publisher's transaction; returns the partitions of its records.
    mutating func endForeign(_ transaction: Int, now: Int64) -> [Place] {
        transactions[transaction].state = transactions[transaction].commits ? .committed : .aborted
        for place in transactions[transaction].places {
            _ = append(.marker(now), to: place)
            self[place].open.removeAll { $0.transaction == transaction }
        }
        return transactions[transaction].places
    }

    private mutating func noteWrite(at place: Place, _ offset: Int64, in transaction: Int) {
        guard !transactions[transaction].places.contains(place) else { return }
        transactions[transaction].places.append(place)
        self[place].open.append((transaction, offset))
    }

    // MARK: Offsets and ends

    /// Adds offsets to the group that wait for the transaction's end.
    mutating func send(_ positions: [Position], in transaction: Int) {
        for position in positions {
            let index = transactions[transaction].offsets.firstIndex { areNamesakes($0.place, position.place) }
            if let index {
                transactions[transaction].offsets[index] = position
            } else {
                transactions[transaction].offsets.append(position)
                self[current(position.place)].pendingOffsets += 1
            }
        }
    }

    /// Ends the producer's transaction.
    ///
    /// A repetition of the request, of the same epoch, gets the same answer.
    mutating func end(_ producer: Int, epoch: Int, number: Int, commits: Bool) -> Coordination {
        guard let state = producers[producer], state.epoch == epoch else { return .fenced }
        if let transaction = state.transaction {
            guard transactions[transaction].number == number else {
                return transactions[transaction].number < number ? .wait : .stale
            }
            guard transactions[transaction].state == .open else {
                return transactions[transaction].commits == commits ? .done : .fenced
            }
            prepare(transaction, commits: commits)
            return .transaction(transaction, isNew: false)
        }
        if let ended = state.ended, ended.epoch == epoch, ended.number >= number {
            return ended.number == number && ended.committed == commits ? .done : .stale
        }
        // None of its requests has arrived, and none may open it now.
        guard !commits else { return .stale }
        producers[producer]?.ended = (epoch, number, false)
        return .done
    }

    /// Aborts before the coordinator has answered for the first partition, without a request for the end.
    ///
    /// librdkafka 2.0.2 takes that answer for outdated and forgets its request
    /// (`rd_kafka_txn_handle_AddPartitionsToTxn`). The coordinator's transaction, which is empty, stays open and
    /// continues as the next one.
    ///
    /// - Returns: Whether no other request of it has arrived, so that this is possible.
    mutating func forgetsEnd(_ producer: Int, epoch: Int, number: Int) -> Bool {
        guard var state = producers[producer], state.epoch == epoch, state.transaction == nil else { return false }
        if let ended = state.ended, ended.epoch == epoch, ended.number >= number { return false }
        // None of its requests may open it now.
        state.ended = (epoch, number, false)
        state.forgotten = state.forgotten ?? number
        producers[producer] = state
        return true
    }

    // MARK: Late requests

    /// The transaction for which a request without a number of its own is taken: all of an epoch look alike.
    func openTransaction(of producer: Int, epoch: Int) -> Int? {
        guard let state = producers[producer], state.epoch == epoch, let transaction = state.transaction,
            transactions[transaction].state == .open
        else { return nil }
        return transaction
    }

    /// The end of a former transaction ends this one; its holder's next write opens another of that number.
    mutating func endLate(_ transaction: Int, commits: Bool) {
        transactions[transaction].number -= 1
        prepare(transaction, commits: commits)
    }

    /// A partition of a former transaction opens one that its holder does not know.
    ///
    /// - Returns: the holder's number of it, or `nil` if it has no effect.
    mutating func addLate(_ producer: Int, epoch: Int) -> Int? {
        guard let state = producers[producer], state.epoch == epoch, state.transaction == nil, state.forgotten == nil,
            let ended = state.ended, ended.epoch == epoch
        else { return nil }
        producers[producer]?.forgotten = ended.number
        return ended.number
    }

    /// Ends a transaction that is open for too long, and fences its producer.
    mutating func expire(_ expiry: Expiry) {
        switch expiry {
        case .transaction(let transaction): expire(transaction)
        case .forgotten(let producer, let epoch, let number):
            guard let state = producers[producer], state.epoch == epoch, state.forgotten == number else { return }
            producers[producer]?.forgotten = nil
            // It continues as the next one, if that is open.
            if let transaction = state.transaction { expire(transaction) } else { producers[producer]?.epoch += 1 }
        }
    }

    private mutating func expire(_ transaction: Int) {
        guard transactions[transaction].state == .open else { return }
        producers[transactions[transaction].producer]?.epoch += 1
        prepare(transaction, commits: false)
    }

    private mutating func prepare(_ transaction: Int, commits: Bool) {
        transactions[transaction].state = .prepared
        transactions[transaction].commits = commits
        producers[transactions[transaction].producer]?.forgotten = nil
        transactions[transaction].markersLeft =
            transactions[transaction].places.count + (transactions[transaction].offsets.isEmpty ? 0 : 1)
        decided.append(transaction)
        if transactions[transaction].markersLeft == 0 { complete(transaction) }
    }

    /// Writes the marker to a partition: its readers get past the transaction there.
    mutating func writeMarker(of transaction: Int, at place: Place, now: Int64) {
        var marker = LogRecord.marker(now)
        marker.transaction = transaction
        _ = append(marker, to: place)
        self[place].open.removeAll { $0.transaction == transaction }
        markerWritten(transaction)
    }

    /// Writes the marker to the group's offsets: they are committed, or forgotten.
    mutating func settleOffsets(of transaction: Int) {
        for position in transactions[transaction].offsets {
            self[current(position.place)].pendingOffsets -= 1
            if transactions[transaction].commits { commit(position) }
        }
        markerWritten(transaction)
    }

    private mutating func markerWritten(_ transaction: Int) {
        transactions[transaction].markersLeft -= 1
        if transactions[transaction].markersLeft == 0 { complete(transaction) }
    }

    private mutating func complete(_ index: Int) {
        let transaction = transactions[index]
        transactions[index].state = transaction.commits ? .committed : .aborted
        producers[transaction.producer]?.transaction = nil
        producers[transaction.producer]?.ended = (transaction.epoch, transaction.number, transaction.commits)
    }
}
