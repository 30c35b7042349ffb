import HeraldCore
import HeraldKernel
import HeraldWorker

/// The broker's handling of requests.
extension Simulation {
    /// A record fails after this time without a leader (milliseconds): `message.timeout.ms`.
    private static let messageTimeout: Int64 = 8_000

    func arrive(_ process: Process, _ request: Request) {
        let absence = absence(for: request, of: process)
        guard absence <= now else {
            postpone(request, of: process, until: absence)
            return
        }
        switch request {
        case .unassigned: unassigned(process)
        case .offsets(let generation, let assignment):
            tellOffsets(process, generation: generation, assignment: assignment, request)
        case .append(let id, let place, let record, let effect, let isLost):
            append(process, id, place, record, effect, isAcknowledgementLost: isLost, request)
        case .commit(let sequence, let generation, let positions):
            commit(process, sequence: sequence, generation: generation, positions)
        case .initialise(let call): initialise(process, call: call, request)
        case .write(let id, let place, let record, let effect, let epoch, let transaction, _):
            write(process, id, place, record, effect, epoch: epoch, transaction: transaction, request)
        case .sendOffsets(let call, let positions, let generation, let epoch, let transaction):
            sendOffsets(
                process, call: call, positions, generation: generation, epoch: epoch, transaction: transaction, request)
        // Only late ones are sent.
        case .addPartition: break
        case .end(let call, let commits, let epoch, let transaction):
            end(process, call: call, commits: commits, epoch: epoch, transaction: transaction, request)
        case .lookUp(let sequence, let positions): lookUp(process, sequence: sequence, positions, request)
        case .control(let request): write(process, request)
        case .standing(let question): tellStanding(process, question: question, request)
        case .state(let question, let isWhole, let ends):
            tellState(process, question: question, isWhole: isWhole, ends)
        }
    }

    func tell(_ process: Process, _ news: News) {
        schedule(.news(process, news), after: self[process][.answer].between(0, 15))
    }

    /// The client sends it again until a broker takes it, or until its time is over.
    func postpone(_ request: Request, of process: Process, until moment: Int64) {
        switch request {
        case .write(let id, _, _, _, _, let transaction, let sentAt) where moment - sentAt > Self.messageTimeout:
            let wait = max(0, sentAt + Self.messageTimeout - now)
            schedule(.news(process, .written(id, transaction: transaction, .timedOut)), after: wait)
        case .control(let request) where moment - request.sentAt > ControlRequest.patience:
            let wait = max(0, request.sentAt + ControlRequest.patience - now)
            schedule(.news(process, .control(.written(.notTaken))), after: wait)
        case .commit(let sequence, _, _) where self[process][.retry].below(2) == 0:
            schedule(
                .news(process, .committed(sequence: sequence, .failedForNow)),
                after: self[process][.retry].between(1_000, 5_000))
        case _:
            schedule(.request(process, request), after: moment - now + self[process][.retry].between(0, 50))
        }
    }

    func again(_ request: Request, of process: Process) {
        // A dead process repeats no request.
        guard living(process) != nil else { return }
        schedule(.request(process, request), after: self[process][.retry].between(5, 100))
    }

    // MARK: The group

    func rebalance(telling members: [Int]) {
        for member in members {
            guard member != Self.stranger.member else {
                strangerHears(of: nil)
                continue
            }
            schedule(.news(Process(member: member), .revoked), after: chance[.rebalance].between(0, 20))
        }
        finishRebalance()
    }

    private func finishRebalance() {
        for (member, places) in cluster.finishRebalance() {
            guard member != Self.stranger.member else {
                strangerHears(of: places)
                continue
            }
            tell(Process(member: member), .assigned(generation: cluster.generation, places))
        }
    }

    private func unassigned(_ process: Process) {
        worker(process)?.isGivingBack = false
        if cluster.members[process.member] != nil {
            cluster.unassigned(process.member)
            finishRebalance()
        } else if let worker = worker(process) {
            // Its session had ended: it joins anew.
            worker.join()
        }
    }

    private func tellOffsets(_ process: Process, generation: Int, assignment: Int, _ request: Request) {
        guard cluster.isMember(process.member, of: generation), let member = cluster.members[process.member] else {
            return
        }
        guard !cluster.hasPendingOffsets(member.assignment.map(cluster.current)) else {
            again(request, of: process)
            return
        }
        let places = member.assignment.map(cluster.current)
        // A missing topic has no end, which is requested too.
        guard places.allSatisfy({ topicsBackAt[$0.topic, default: 0] <= now }) else {
            again(request, of: process)
            return
        }
        let offsets = places.map { place in
            guard !chance[.unanswered].happens(scenario.unanswered) else {
                log("nobody says what is committed of \(cluster.name(place))")
                return Committed(place: place, offset: nil, metadata: "", evidence: .unanswered(.timedOut))
            }
            let evidence = evidence(of: place)
            // Before its first record is taken, from the worker's view.
            if evidence == .absent, cluster[place].committed == nil {
                log("\(cluster.name(place)) has its first offset: \(cluster[place].start)")
                cluster[place].committed = cluster[place].start
            }
            return Committed(
                place: place, offset: cluster[place].committed, metadata: cluster[place].metadata,
                isOutdated: cluster[place].isCommitOutdated, evidence: evidence)
        }
        tell(process, .offsets(assignment: assignment, offsets))
    }

    /// A commit's content is the start of the next owners.
    func check(_ positions: [Position], of process: Process) {
        for position in positions {
            let place = position.place
            if !cluster.owns(process.member, place) {
                checkers.fail("\(process) commits offsets of \(cluster.name(place)), which it does not own")
            }
        }
    }

    /// Checks that a commit tells the truth.
    func checkCommit(_ position: Position) {
        // For a deleted topic it tells nothing.
        guard !cluster.isDeleted(position.place) else { return }
        let log = cluster[position.place]
        // One that goes back to deleted records lets nobody take them again.
        let isBack = scenario.deletions > 0 && position.offset < min(log.standing, log.start)
        let before = isBack ? position.offset : min(log.standing, log.replaced)
        guard position.offset <= log.end else {
            // The group's offset is from before the log was cut off, and its member has not heard of that yet.
            let told = Position(place: position.place, offset: log.committed ?? 0, metadata: log.metadata)
            if position.offset > cluster.reach(of: told) {
                let name = cluster.name(position.place)
                checkers.fail("a commit of \(name) says \(position.offset), and its log ends at \(log.end)")
            }
            return
        }
        checkers.committed(
            position, from: before,
            // Later records there are younger.
            timestamp: { $0 < log.end ? log.records[Int($0)].timestamp : .max },
            isVisible: { self.cluster.isData(position.place, $0) })
        guard let evidence = map(position.metadata, position.offset, position.place)?.evidence else { return }
        let first = max(before, log.passed, evidence.begin, log.start)
        for offset in first..<max(first, position.offset)
        where cluster.isData(position.place, offset) && log.records[Int(offset)].timestamp > evidence.newest {
            checkers.fail("a commit of \(cluster.name(position.place)) knows no time stamp as new as that of \(offset)")
        }
    }

    // MARK: Without transactions

    private func append(
        _ process: Process, _ id: ProductionID, _ place: Place, _ record: LogRecord, _ effect: Effect,
        isAcknowledgementLost: Bool, _ request: Request
    ) {
        let place = cluster.current(place)
        guard cluster[place].leaderlessUntil <= now else {
            postpone(request, of: process, until: cluster[place].leaderlessUntil)
            return
        }
        guard !cluster.isRefusing(place.topic, now: now) else {
            tell(process, .acknowledged(id, .other))
            return
        }
        // A request that has left the process arrives, whether or not the process still lives.
        let name = RecordName(place: place, offset: cluster.append(record, to: place))
        log("appended \(checkers.text(name)) for \(checkers.text(effect.settles)): \(effect.kind)")
        checkers.appended(effect, at: name)
        wake(place)
        if isAcknowledgementLost {
            tell(process, .acknowledged(id, .other))
        } else if chance[.lostAcknowledgement].happens(scenario.lostAcknowledgements) {
            schedule(.news(process, .acknowledged(id, nil)), after: chance[.lostAcknowledgement].between(1_000, 5_000))
        } else {
            tell(process, .acknowledged(id, nil))
        }
    }

    /// A commit reaches the broker, or not, and its reply the worker, or not.
    private func commit(_ process: Process, sequence: UInt64, generation: Int, _ positions: [Position]) {
        let isAccepted = cluster.accepts(member: process.member, generation: generation)
        let isHit = chance[.lostMessage].happens(scenario.lostMessages)
        let fault = isHit ? chance[.lostMessage].below(3) : 3
        if isAccepted, fault != 0 {
            check(positions, of: process)
            for position in positions where !isMissing(position.place) {
                checkCommit(position)
                cluster.commit(position)
            }
        }
        let isWhole = !positions.contains { isMissing($0.place) }
        let outcome: TransactionOutcome =
            fault < 2 || !isWhole ? .failedForNow : isAccepted ? .acknowledged : .refused
        log("\(process): commit \(sequence) \(outcome)\(isHit ? ", lost or late" : "")")
        schedule(
            .news(process, .committed(sequence: sequence, outcome)),
            after: fault == 2 ? chance[.lostMessage].between(1_000, 12_000) : chance[.answer].between(0, 15))
    }
}
