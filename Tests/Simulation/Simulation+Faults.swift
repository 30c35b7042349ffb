import HeraldCore
import HeraldEvents

/// What befalls the world.
extension Simulation {
    /// Faults come while events are published and some time after.
    private static let faultTime: Int64 = 60_000

    func scheduleFaults() {
        let faults: [(Fault, Int)] = [
            (.crash, scenario.crashes), (.stop, scenario.stops), (.freeze, scenario.freezes),
            (.sessionLoss, scenario.sessionLosses),
            (.grow, scenario.growths), (.outage, scenario.outages), (.leaderLoss, scenario.leaderLosses),
            (.refusal, scenario.refusals), (.rival, scenario.rivals), (.clockStep, scenario.skew > 0 ? 3 : 0),
            (.settings, scenario.settingsChanges),
        ]
        for (fault, count) in faults {
            for _ in 0..<count { schedule(.fault(fault), after: chance.between(100, Self.faultTime)) }
        }
        if scenario.hasStorms { schedule(.weather, after: chance.between(500, 5_000)) }
    }

    func perform(_ fault: Fault) {
        switch fault {
        case .crash: anyWorker()?.crash()
        case .stop: anyWorker()?.drain()
        case .freeze: anyWorker()?.freeze()
        case .sessionLoss:
            guard cluster.awayUntil <= now else { return }
            anyWorker()?.loseSession()
        case .grow:
            log("every topic gets one more partition")
            rebalance(telling: cluster.grow())
        case .outage:
            let duration = chance.between(1_000, 15_000)
            log("all brokers are away for \(duration) ms")
            cluster.awayUntil = now + duration
            schedule(.brokersBack, after: duration)
        case .leaderLoss:
            let place = Place(topic: chance.below(cluster.topics.count), partition: chance.below(cluster.partitions))
            let duration = chance.between(500, 20_000)
            log("\(cluster.name(place)) has no leader for \(duration) ms")
            cluster[place].leaderlessUntil = now + duration
            schedule(.leaderBack(place), after: duration)
        case .refusal:
            let topic = chance.between(Int64(scenario.topics.requests.count), Int64(cluster.topics.count - 1))
            let duration = chance.between(500, 15_000)
            log("\(cluster.topics[Int(topic)]) refuses every record for \(duration) ms")
            cluster.refusing = (Int(topic), now + duration)
        case .clockStep:
            guard let worker = anyWorker() else { return }
            worker.chooseSkew()
        case .settings: anyWorker()?.change(to: Scenario.anyLiveSettings(&chance))
        case .rival:
            guard let worker = anyWorker() else { return }
            log("somebody takes the transactional.id of \(worker.process) over")
            _ = cluster.initialise(worker.transactionalID)
            cluster.rivalled.insert(worker.transactionalID)
            announceDecided()
        }
    }

    private func anyWorker() -> SimulatedWorker? {
        let running = workers.filter { $0.isRunning && $0.frozenUntil == nil }
        return running.isEmpty ? nil : chance.pick(running)
    }

    func changeWeather() {
        guard now - Self.start < Self.faultTime else {
            become(.init())
            return
        }
        var weather = SimulatedBackend.Weather()
        switch chance.below(9) {
        case 0: weather.passwordIsWrong = true
        case 1: weather.isUnreachable = true
        case 2: weather.transient = 900
        case 3: weather.pathIsWrong = true
        case 4:
            weather.capacity = chance.between(5, 200)
            weather.capacityPause = chance.pick([nil, nil, 1_000, 7_000, 60_000])
        case 5: weather.quotaIsUsedUp = true
        case 6: weather.hubIsMissing = true
        default: break
        }
        log("the backend: \(weather)")
        become(weather)
        schedule(.weather, after: chance.between(200, 8_000))
    }

    /// A password that was wrong is right again by itself, or because all workers have another one.
    private func become(_ weather: SimulatedBackend.Weather) {
        if backend.weather.passwordIsWrong, !weather.passwordIsWrong, chance.below(2) == 0 {
            log("every worker has another password")
            for worker in workers where worker.isRunning {
                schedule(.news(worker.process, .credentialsChanged), after: 0)
            }
        }
        backend.weather = weather
    }

    /// When nobody else's event is left, one that is refused can't be told from a wrong password, and one that hangs is no
    /// proof that the backend is well: without a pardon an outage would last for ever.
    func pardon() {
        backend.forbidden = []
        if scenario.hasStorms { backend.hanging = [] }
        trouble?.isOn = false
    }

    /// The group has not heard of a member for a session.
    func sessionEnds(_ process: Process, join: Int) {
        guard cluster.awayUntil <= now else {
            // A coordinator that comes back gives everybody another session.
            schedule(.sessionEnds(process, join: join), after: cluster.awayUntil - now + SimulatedWorker.session)
            return
        }
        if let worker = living(process) {
            // Who is heard of again, or has joined anew, has another session.
            guard worker.frozenUntil != nil, worker.joins == join else { return }
            worker.sessionEnded()
        }
        if cluster.members[process.member] != nil { log("\(process): its session ends") }
        rebalance(telling: cluster.remove(process.member))
    }
}
