import HeraldCore
import HeraldTime

/// What a worker hears.
extension SimulatedWorker {
    func hear(_ news: News) {
        if case .tick(let number) = news, number != nextTick.number { return }
        simulation.inputs += 1
        switch news {
        case .tick:
            nextTick.at = .max
            engine.tick(now: moment)
        case .answer(let token, let result): hear(result, of: token)
        case .campaign(let index): hear(ofCampaign: index)
        case .credentialsRenewed: engine.credentialsRenewed(now: moment)
        case .revoked:
            guard !isZombie else { return }
            log("is to give its partitions back")
            stop(timeout: configuration.revokeTimeout)
            engine.revoked(now: moment)
        case .lost:
            guard isZombie, !isGivingBack else { return }
            guard isAssigned else {
                join()
                return
            }
            log("has lost its partitions")
            hitInMemory()
            engine.lost(now: moment)
        case .assigned(let generation, let places):
            // A member hears of a generation once it has asked for it, and not when the next one has begun.
            guard simulation.cluster.isMember(process.member, of: generation) else { return }
            isAssigned = true
            self.generation = generation
            self.places = places
            simulation.schedule(.request(process, .offsets(generation: generation)), after: simulation.travel())
        case .offsets(let generation, let offsets): begin(generation, offsets)
        case .acknowledged(let id, let failure): acknowledged(id, failure)
        case .committed(let sequence, let outcome):
            if outcome == .acknowledged { commitIsDoubtful = false }
            engine.committed(sequence: sequence, outcome, now: moment)
        case .initialised, .written, .replied, .lookedUp, .timedOut, .concluded: hearProducer(news)
        }
        go()
    }

    private func begin(_ generation: Int, _ offsets: [Committed]) {
        guard generation == self.generation, fetched.isEmpty,
            simulation.cluster.isMember(process.member, of: generation)
        else { return }
        log("takes \(places.map(simulation.cluster.name).joined(separator: ", ")) in generation \(generation)")
        fetched = zip(places, offsets).map { simulation.historyStart(of: $0, committed: $1.offset) }
        begunAt = offsets.map { $0.offset ?? 0 }
        isPaused = places.map { _ in false }
        endTold = places.map { _ in 0 }
        for place in places { simulation.cluster[place].takers.append(index) }
        let assigned = zip(places, offsets).map { place, committed in
            AssignedPartition(
                topic: place.topic, number: Int32(place.partition), startOffset: committed.offset,
                metadata: committed.metadata)
        }
        engine.assigned(assigned, topics: simulation.scenario.consumedTopics, now: moment)
    }

    private func acknowledged(_ id: ProductionID, _ failure: ProductionFailure?) {
        if produced.remove(id) == nil, engine.production(id) != nil {
            simulation.checkers.fail("an acknowledgement of an earlier record is taken for another")
        }
        if let failure {
            engine.failed(id, failure, now: moment)
        } else {
            engine.delivered(id, now: moment)
        }
    }

    func recordsArrived() {
        guard isRunning, frozenUntil == nil else { return }
        engine.recordsArrived()
        go()
    }

    /// Carries out what the engine wants, gives it records, and checks its bounds.
    func go() {
        carryOut()
        while isRunning, takeOne() { carryOut() }
        guard isRunning else { return }
        let load = engine.load
        if load.events > configuration.maxBuffered || load.calls > configuration.maxInFlight {
            simulation.checkers.fail("promise 6: \(load) are in memory")
        }
        guard let wake = engine.nextWake else { return }
        let at = Simulation.start + (wake.nanoseconds + 999_999) / 1_000_000
        if at < nextTick.at {
            nextTick = (max(at, simulation.now), nextTick.number + 1)
            simulation.schedule(.news(process, .tick(nextTick.number)), after: at - simulation.now)
        }
    }
}
