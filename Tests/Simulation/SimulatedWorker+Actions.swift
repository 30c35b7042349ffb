import HeraldCore

/// What the engine wants done.
extension SimulatedWorker {
    func carryOut() {
        var next = 0
        let givesUp = engine.actions.contains { if case .notice(.gaveUp) = $0 { true } else { false } }
        while next < engine.actions.count, isRunning {
            let action = engine.actions[next]
            next += 1
            switch action {
            case .call(let token): call(token)
            case .produce(let id): produce(id)
            case .release(let slot): release(slot, isGivenUp: givesUp)
            case .keep(let slot): keep(slot)
            case .commit(let sequence): commit(sequence)
            case .pause(let partition): isPaused[Int(partition)] = true
            case .resume(let partition):
                isPaused[Int(partition)] = false
                engine.recordsArrived()
            case .rewind(let partition):
                fetched[Int(partition)] = engine.nextOffset(of: partition) ?? 0
                log("reads \(simulation.cluster.name(places[Int(partition)])) again from \(fetched[Int(partition)])")
                aside = nil
                engine.recordsArrived()
            // It fetches nothing ahead.
            case .retainQueue, .dropRetained: break
            case .begin, .abort, .renewProducer, .lookUp: transact(action)
            case .unassign: unassign()
            case .leave:
                endAssignment()
                leave()
            case .renewCredentials:
                log("renews the credentials")
                simulation.schedule(.news(process, .credentialsRenewed), after: simulation.chance.between(0, 400))
            case .pauseCampaign(let name, let failed, let all):
                log("says that \(failed) of \(all) of \(name) failed")
                let index = (0..<Scenario.campaigns).first { Scenario.campaignName($0) == name } ?? -1
                simulation.schedule(.campaignFails(index), after: simulation.travel())
            case .notice(let notice):
                log("notice: \(notice)")
                switch notice {
                case .gaveUp: gaveUp()
                case .rival: crash()
                case .holdBegan, .holdEnded, .foreignMetadata, .recordRefused: break
                }
            }
        }
        engine.clearActions()
    }

    private func commit(_ sequence: UInt64) {
        guard !simulation.scenario.isAtomic else {
            commitTransaction(sequence)
            return
        }
        commitIsDoubtful = true
        let positions = engine.commitPositions.map {
            Position(place: places[Int($0.partition)], offset: $0.offset, metadata: $0.metadata)
        }
        simulation.schedule(
            .request(process, .commit(sequence: sequence, generation: generation, positions)),
            after: simulation.travel())
    }

    private func unassign() {
        log("gives its partitions back")
        isAssigned = false
        isGivingBack = true
        endAssignment()
        engine.unassigned(now: moment)
        forgetAssignment()
        simulation.schedule(.request(process, .unassigned), after: simulation.chance.between(0, 5))
    }

    private func endAssignment() {
        if commitIsDoubtful { hitInMemory() }
        let left = records.count { $0 != nil }
        if left > 0 { simulation.checkers.fail("\(process): \(left) records outlive their assignment") }
    }

    /// A record that stays is copied; there must be one.
    private func keep(_ slot: Int32) {
        if records[Int(slot)] == nil { simulation.checkers.fail("slot \(slot) is to be kept, and has no record") }
    }

    private func release(_ slot: Int32, isGivenUp: Bool) {
        guard let name = records[Int(slot)] else {
            simulation.checkers.fail("slot \(slot) was released twice")
            return
        }
        records[Int(slot)] = nil
        if isGivenUp { hit(name) }
        passed.remove(name)
        callsOut[name] = nil
        if let line = line(of: name), active[line] == name { active[line] = nil }
    }

    func line(of name: RecordName) -> OrderLine? {
        switch simulation.scenario.ordering {
        case .key: OrderLine(user: simulation.cluster.record(name)?.user ?? -1, place: Place(topic: 0, partition: 0))
        case .partition: OrderLine(user: -1, place: name.place)
        case .none: nil
        }
    }
}
