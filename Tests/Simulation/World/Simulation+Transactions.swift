import HeraldCore
import HeraldKafka
import HeraldKernel
import HeraldTime

/// The broker's handling of a transactional producer's requests.
extension Simulation {
    /// `transaction.timeout.ms`, and the broker's interval of looks for older transactions.
    static let transactionTimeout: Milliseconds = .seconds(10)

    /// The faults of a request or its reply.
    private enum Passage {
        case unhindered
        case lost
        case replyLost
        case replyLate
    }

    private func passage(of process: Process) -> Passage {
        guard self[process][.lostMessage].happens(scenario.lostMessages) else { return .unhindered }
        return self[process][.lostMessage].pick([.lost, .replyLost, .replyLate])
    }

    private func reply(_ reply: Reply, to process: Process, call: Int, _ passage: Passage) {
        switch passage {
        case .unhindered: tell(process, .replied(call: call, reply))
        case .replyLate:
            schedule(
                .news(process, .replied(call: call, reply)), after: self[process][.lostMessage].between(1_000, 12_000))
        case .lost, .replyLost: log("\(process): a reply is lost")
        }
    }

    /// Whether the request's connection ends before it arrives: the client sends it again at once, and the first copy
    /// arrives at some time.
    private func goesTwice(_ request: Request, of process: Process) -> Bool {
        guard self[process][.lateRequest].happens(scenario.lateRequests), let sender = living(process) else {
            return false
        }
        if case .initialise = request { sender.client.claims.noteSent() } else { sender.client.control.noteSent() }
        log("\(process): a request goes twice")
        schedule(.request(process, request), after: self[process][.lateRequest].between(5, 500))
        schedule(.lateRequest(process, request), after: self[process][.lateRequest].between(50, 20_000))
        return true
    }

    /// Applies a copy that arrives after the end of its transaction.
    func arriveLate(_ process: Process, _ request: Request) {
        let absence = absence(for: request, of: process)
        guard absence <= now else {
            let wait = absence - now + self[process][.lateRequest].between(0, 50)
            schedule(.lateRequest(process, request), after: wait)
            return
        }
        let producer = identifier(of: process)
        switch request {
        case .end(_, let commits, let epoch, let number):
            guard let transaction = laterTransaction(of: producer, epoch: epoch, than: number) else { return }
            log("\(process): the late end of transaction number \(number) ends transaction \(transaction)")
            cluster.endLate(transaction, commits: commits)
            announceDecided()
        case .sendOffsets(_, let positions, let generation, let epoch, let number):
            guard let transaction = laterTransaction(of: producer, epoch: epoch, than: number),
                process.isJob || cluster.accepts(member: process.member, generation: generation)
            else { return }
            log("\(process): transaction \(transaction): late offsets of number \(number), \(text(positions))")
            cluster.send(positions, in: transaction)
        case .initialise:
            log("\(process): its name is claimed once more")
            if living(process) == nil { cluster.rivalled.insert(producer) }
            _ = cluster.initialise(producer)
            announceDecided()
        case .addPartition(let epoch):
            guard let number = cluster.addLate(producer, epoch: epoch) else { return }
            log("\(process): a late partition opens a transaction")
            expiresLater(.forgotten(producer: producer, epoch: epoch, number: number))
        default: checkers.fail("\(process): no copy of \(request) is sent")
        }
    }

    /// The transaction that is open after the copy's own.
    ///
    /// A copy that is not late changes nothing: the other one is told that it is done.
    private func laterTransaction(of producer: Int, epoch: Int, than number: Int) -> Int? {
        cluster.openTransaction(of: producer, epoch: epoch).flatMap {
            cluster.transactions[$0].number > number ? $0 : nil
        }
    }

    /// Adds a transaction's first partition, by a request that may go twice.
    private func addPartition(_ process: Process, epoch: Int) {
        guard self[process][.lateRequest].happens(scenario.lateRequests), let worker = living(process) else { return }
        worker.client.control.noteSent()
        schedule(
            .lateRequest(process, .addPartition(epoch: epoch)), after: self[process][.lateRequest].between(50, 20_000))
    }

    func initialise(_ process: Process, call: Int, _ request: Request) {
        if goesTwice(request, of: process) { return }
        let epoch = cluster.initialise(identifier(of: process))
        // A dead process's request to a broker that hung takes the name from the living one, too.
        if living(process) == nil { cluster.rivalled.insert(identifier(of: process)) }
        announceDecided()
        if let epoch {
            log("\(process): its producer has epoch \(epoch)")
            tell(process, .initialised(call: call, epoch: epoch))
        } else {
            again(request, of: process)
        }
    }

    func write(
        _ process: Process, _ id: ProductionID, _ place: Place, _ record: LogRecord, _ effect: Effect?, epoch: Int,
        transaction number: Int, _ request: Request
    ) {
        let place = cluster.current(place)
        guard cluster[place].leaderlessUntil <= now else {
            postpone(request, of: process, until: cluster[place].leaderlessUntil)
            return
        }
        if scenario.quota > 0, !process.isJob {
            // Records that an abort takes back were not sent yet.
            guard living(process)?.client.number == number else { return }
            let throttled = cluster.throttledUntil[identifier(of: process), default: 0]
            guard throttled <= now else { return postpone(request, of: process, until: throttled) }
            cluster.throttledUntil[identifier(of: process)] = now + 1_000 / Int64(scenario.quota)
        }
        guard !cluster.isRefusing(place.topic, now: now) else {
            tell(process, .written(id, transaction: number, .refused))
            return
        }
        switch cluster.transaction(of: identifier(of: process), epoch: epoch, number: number) {
        case .transaction(let transaction, let isNew):
            if isNew {
                expiresLater(.transaction(transaction))
                addPartition(process, epoch: epoch)
            }
            let offset = cluster.write(record, to: place, in: transaction, effect: effect)
            let name = RecordName(place: place, offset: offset)
            let purpose = effect.map { " for \(checkers.text($0.settles)): \($0.kind)" } ?? ""
            log("\(process): transaction \(transaction): \(checkers.text(name))\(purpose)")
            let isLate = self[process][.lostAcknowledgement].happens(scenario.lostAcknowledgements)
            let wait = isLate ? self[process][.lostAcknowledgement].between(1_000, 5_000) : 0
            schedule(
                .news(process, .written(id, transaction: number, .done)),
                after: wait + self[process][.answer].between(0, 15))
        case .wait: again(request, of: process)
        case .fenced: tell(process, .written(id, transaction: number, .fenced))
        case .stale, .done: break
        }
    }

    func sendOffsets(
        _ process: Process, call: Int, _ positions: [Position], generation: Int, epoch: Int, transaction number: Int,
        _ request: Request
    ) {
        guard !positions.contains(where: { isMissing($0.place) }) else { return again(request, of: process) }
        if goesTwice(request, of: process) { return }
        let passage = passage(of: process)
        let producer = identifier(of: process)
        guard passage != .lost, cluster.admits(producer, epoch: epoch, request: call) else { return }
        switch cluster.transaction(of: producer, epoch: epoch, number: number) {
        case .transaction(let transaction, let isNew):
            if isNew { expiresLater(.transaction(transaction)) }
            // A job is no member: the epoch of its name keeps others out.
            guard process.isJob || cluster.accepts(member: process.member, generation: generation) else {
                log("\(process): the group refuses its offsets")
                reply(.refused, to: process, call: call, passage)
                return
            }
            if !process.isJob { check(positions, of: process) }
            cluster.send(positions, in: transaction)
            log("\(process): transaction \(transaction): offsets \(text(positions))")
            reply(.done, to: process, call: call, passage)
        case .wait: again(request, of: process)
        case .fenced: reply(.fenced, to: process, call: call, passage)
        case .stale, .done: checkers.fail("\(process) sends offsets in a transaction that has ended")
        }
    }

    func end(
        _ process: Process, call: Int, commits: Bool, epoch: Int, transaction number: Int, _ request: Request
    ) {
        if goesTwice(request, of: process) { return }
        let passage = passage(of: process)
        let producer = identifier(of: process)
        guard passage != .lost, cluster.admits(producer, epoch: epoch, request: call) else { return }
        switch cluster.end(producer, epoch: epoch, number: number, commits: commits) {
        case .transaction, .done:
            announceDecided()
            reply(.done, to: process, call: call, passage)
        case .wait: again(request, of: process)
        case .fenced: reply(.fenced, to: process, call: call, passage)
        case .stale: checkers.fail("\(process) ends a transaction that is not open")
        }
    }

    /// Whether a commit was made: then the group is at its position.
    func lookUp(_ process: Process, sequence: UInt64, _ positions: [Position], _ request: Request) {
        if passage(of: process) != .unhindered {
            schedule(
                .news(process, .lookedUp(sequence: sequence, .failedForNow)),
                after: self[process][.lostMessage].between(1_000, 10_000))
            return
        }
        guard !cluster.hasPendingOffsets(positions.map { cluster.current($0.place) }) else {
            again(request, of: process)
            return
        }
        let wasMade =
            !positions.isEmpty
            && positions.allSatisfy {
                let log = cluster[cluster.current($0.place)]
                return log.committed == $0.offset && log.metadata == $0.metadata
            }
        if !wasMade { mayRepeat(process, positions) }
        tell(process, .lookedUp(sequence: sequence, wasMade ? .acknowledged : .abortable))
    }

    /// Notes that a commit is regarded as not made: without any offset of a remaining topic, its outcome is unknown.
    private func mayRepeat(_ process: Process, _ positions: [Position]) {
        let producer = identifier(of: process)
        guard positions.isEmpty || positions.contains(where: { cluster.isDeleted($0.place) }),
            let latest = cluster.transactions.last(where: { $0.producer == producer && $0.commits })
        else { return }
        log("\(process): its commit counts as not made, and nobody can tell")
        for (effect, _) in latest.effects {
            for duty in effect.duties { checkers.duties[duty].mayRepeat = true }
        }
    }

    // MARK: The coordinator

    func identifier(of process: Process) -> Int {
        switch process.kind {
        case .worker: Process(worker: process.worker, life: scenario.hasFixedIDs ? 0 : process.life).member
        // All jobs of a kind write under one name.
        case .job, .replay, .publisher: Process(process.kind, 0).member
        }
    }

    private func holder(of expiry: Expiry) -> Process {
        switch expiry {
        case .transaction(let transaction): Process(member: cluster.transactions[transaction].producer)
        case .forgotten(let producer, _, _): Process(member: producer)
        }
    }

    private func expiresLater(_ expiry: Expiry) {
        let timeout = Self.transactionTimeout.count
        schedule(.expires(expiry), after: timeout + self[holder(of: expiry)][.expiry].between(0, timeout))
    }

    /// Whether the producer forgets this transaction when it aborts it now.
    func forgetsEnd(_ process: Process, epoch: Int, transaction number: Int) -> Bool {
        let producer = identifier(of: process)
        guard cluster.awayUntil <= now, self[process][.forgottenEnd].happens(scenario.lostAcknowledgements * 200),
            cluster.forgetsEnd(producer, epoch: epoch, number: number)
        else { return false }
        log("\(process): forgets to end transaction number \(number)")
        expiresLater(.forgotten(producer: producer, epoch: epoch, number: number))
        return true
    }

    func expire(_ expiry: Expiry) {
        let absence = max(cluster.awayUntil, cluster.transactionsLoadUntil)
        guard absence <= now else {
            let wait = absence - now + self[holder(of: expiry)][.expiry].between(0, 10_000)
            schedule(.expires(expiry), after: wait)
            return
        }
        if case .transaction(let transaction) = expiry, cluster.transactions[transaction].state == .open {
            log("transaction \(transaction) is open for too long")
        }
        cluster.expire(expiry)
        announceDecided()
    }

    /// Checks the transactions whose end was decided just now, and sends their markers.
    func announceDecided() {
        for index in cluster.decided {
            let transaction = cluster.transactions[index]
            log("transaction \(index) is \(transaction.commits ? "committed" : "aborted")")
            let process = Process(member: transaction.producer)
            if transaction.commits { check(transaction, of: process.kind) }
            for place in transaction.places {
                let isLate = self[process][.lateMarker].happens(scenario.lateMarkers)
                let delay = isLate ? self[process][.lateMarker].between(100, 8_000) : 0
                schedule(.marker(transaction: index, place), after: delay + self[process][.marker].between(0, 15))
            }
            if !transaction.offsets.isEmpty {
                schedule(.marker(transaction: index, nil), after: self[process][.marker].between(0, 15))
            }
        }
        cluster.decided.removeAll()
    }

    private func check(_ transaction: Transaction, of kind: Process.Kind) {
        switch kind {
        case .worker:
            checkers.committed(transaction.effects)
            for position in transaction.offsets { checkCommit(position) }
            checkers.covers(transaction.effects, transaction.offsets)
        case .job: checkFeedback(of: transaction)
        case .replay: checkReplay(of: transaction)
        case .publisher: checkPublishing(of: transaction)
        }
    }

    func writeMarker(of transaction: Int, at place: Place?) {
        let absence = max(
            cluster.awayUntil, cluster.transactionsLoadUntil,
            place.map { cluster[$0].leaderlessUntil } ?? cluster.groupsLoadUntil)
        guard absence <= now else {
            let process = Process(member: cluster.transactions[transaction].producer)
            let wait = absence - now + self[process][.marker].between(0, 20)
            schedule(.marker(transaction: transaction, place), after: wait)
            return
        }
        if let place {
            cluster.writeMarker(of: transaction, at: place, now: now)
            wake(place)
        } else {
            cluster.settleOffsets(of: transaction)
        }
    }

    private func text(_ positions: [Position]) -> String {
        positions.map { "\(cluster.name($0.place)) up to \($0.offset)\($0.metadata.isEmpty ? "" : " and more")" }
            .joined(separator: ", ")
    }
}
