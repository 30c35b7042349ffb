import HeraldCore
import HeraldEvents
import HeraldTime

/// The faults of the world.
extension Simulation {
    /// Faults come while events are published and for some time after.
    static let faultTime: Int64 = 60_000

    func scheduleFaults() {
        let faults: [(Fault, Stream, Int)] = [
            (.crash, .crash, scenario.crashes), (.stop, .stop, scenario.stops), (.freeze, .freeze, scenario.freezes),
            (.sessionLoss, .sessionLoss, scenario.sessionLosses), (.grow, .growth, scenario.growths),
            (.outage, .outage, scenario.outages), (.coordinatorLoad, .coordinatorLoad, scenario.coordinatorLoads),
            (.leaderLoss, .leaderLoss, scenario.leaderLosses),
            (.refusal, .refusal, scenario.refusals), (.retention, .retention, scenario.retentions),
            (.recreation, .recreation, scenario.recreations), (.cut, .cut, scenario.cuts),
            (.rival, .rival, scenario.rivals), (.campaignsTopic, .campaignsTopic, scenario.campaignsFaults),
            (.clockStep, .clockStep, scenario.skew > .zero ? 3 : 0), (.settings, .settings, scenario.settingsChanges),
            (.offsetLoss, .offsetLoss, scenario.offsetLosses), (.stranger, .stranger, scenario.strangers),
            (.deletion, .deletion, scenario.deletions),
        ]
        for (fault, stream, count) in faults {
            for _ in 0..<count { schedule(.fault(fault), after: chance[stream].between(100, Self.faultTime)) }
        }
        scheduleJobFaults()
        if scenario.hasStorms { schedule(.weather, after: chance[.weather].between(500, 5_000)) }
    }

    func perform(_ fault: Fault) {
        switch fault {
        case .crash: anyWorker(.crash)?.crash()
        case .stop: anyWorker(.stop)?.drain()
        case .freeze: anyWorker(.freeze)?.freeze()
        case .sessionLoss:
            guard cluster.awayUntil <= now else { return }
            anyWorker(.sessionLoss)?.loseSession()
        case .grow:
            log("every topic gets one more partition")
            rebalance(telling: cluster.grow())
        case .outage:
            let duration = chance[.outage].between(1_000, 15_000)
            log("all brokers are away for \(duration) ms")
            cluster.awayUntil = now + duration
            schedule(.brokersBack, after: duration)
        case .coordinatorLoad: coordinatorLoads()
        case .leaderLoss:
            let place = cluster.current(
                Place(
                    topic: chance[.leaderLoss].below(workersTopics),
                    partition: chance[.leaderLoss].below(cluster.partitions)))
            let duration = chance[.leaderLoss].between(500, 20_000)
            loseLeader(place, for: duration)
            schedule(.leaderBack(place), after: duration)
        case .refusal:
            let first = scenario.topics.requests.count
            let topic = first + chance[.refusal].below(workersTopics - first)
            let duration = chance[.refusal].between(500, 15_000)
            log("\(cluster.topics[topic]) refuses every record for \(duration) ms")
            cluster.refusing = (topic, now + duration)
        case .retention:
            let place = cluster.current(
                Place(
                    topic: chance[.retention].below(cluster.consumedTopics),
                    partition: chance[.retention].below(cluster.partitions)))
            let committed = cluster[place].standing
            let offset = chance[.retention].pick([committed, chance[.retention].between(0, committed)])
            let start = deleteRecords(before: offset, in: place)
            log("\(cluster.name(place)) begins at \(start) now")
        case .campaignsTopic: disturbCampaigns()
        case .recreation: recreateAnyTopic()
        case .cut: cutAnyLog()
        case .offsetLoss: loseOffsets()
        case .deletion: deleteUnread()
        case .stranger: strangerJoins()
        case .clockStep:
            anyWorker(.clockStep)?.chooseSkew()
        case .settings: anyWorker(.settings)?.change(to: Scenario.anyLiveSettings(&chance[.settings]))
        case .rival:
            guard let worker = anyWorker(.rival) else { return }
            log("somebody takes the transactional.id of \(worker.process) over")
            _ = cluster.initialise(worker.transactionalID)
            cluster.rivalled.insert(worker.transactionalID)
            announceDecided()
        }
    }

    /// Takes a partition's leader away for this time (milliseconds).
    func loseLeader(_ place: Place, for duration: Int64) {
        log("\(cluster.name(place)) has no leader for \(duration) ms")
        cluster[place].leaderlessUntil = max(now + duration, topicsBackAt[place.topic, default: 0])
    }

    /// Lets a topic refuse every record of jobs, and the pauses of workers, for this time (milliseconds).
    func refuseJobs(_ topic: Int, for duration: Int64) {
        log("\(cluster.topics[topic]) refuses every record of jobs for \(duration) ms")
        cluster.refusingJobs = (topic, now + duration)
    }

    /// Retention may delete records of the past that a worker has just requested, before they are fetched.
    func mayDeleteHistory(of places: [Place]) {
        guard scenario.retentions > 0, !places.isEmpty, chance[.retention].below(8) == 0 else { return }
        let place = cluster.current(chance[.retention].pick(places))
        let committed = cluster[place].standing
        let offset = chance[.retention].between(cluster[place].start, max(committed, cluster[place].start))
        let start = deleteRecords(before: offset, in: place)
        log("\(cluster.name(place)) begins at \(start) now, before it is read")
    }

    func deleteRecords(before offset: Int64, in place: Place) -> Int64 {
        let former = cluster[place].start
        let start = cluster.delete(before: offset, in: place)
        cutPublishing(cluster[place].records[Int(former)..<Int(start)])
        return start
    }

    private func anyWorker(_ stream: Stream) -> SimulatedWorker? {
        let running = workers.filter { $0.isRunning && $0.frozenUntil == nil }
        return running.isEmpty ? nil : chance[stream].pick(running)
    }

    func changeWeather() {
        guard now - Self.start < Self.faultTime else {
            become(.init())
            return
        }
        var weather = SimulatedBackend.Weather()
        // In two of nine cases there is no storm.
        let storms = SimulatedBackend.Storm.allCases
        let number = chance[.weather].below(storms.count + 2)
        switch number < storms.count ? scenario.storm ?? storms[number] : nil {
        case .password: weather.passwordIsWrong = true
        case .name: weather.isUnreachable = true
        case .failures: weather.transient = 900
        case .path: weather.pathIsWrong = true
        case .capacity:
            weather.capacity = chance[.weather].between(5, 200)
            weather.capacityPause = chance[.weather].pick([nil, nil, .seconds(1), .seconds(7), .minutes(1)])
        case .quota: weather.quotaIsUsedUp = true
        case .hub: weather.hubIsMissing = true
        case nil: break
        }
        log("the backend: \(weather)")
        become(weather)
        schedule(.weather, after: chance[.weather].between(200, 8_000))
    }

    /// Corrects a wrong password, either by itself or with another one for all workers.
    private func become(_ weather: SimulatedBackend.Weather) {
        if backend.weather.passwordIsWrong, !weather.passwordIsWrong, chance[.credentials].below(2) == 0 {
            log("every worker has another password")
            for worker in workers where worker.isRunning {
                schedule(.news(worker.process, .credentialsChanged), after: 0)
            }
        }
        backend.weather = weather
    }

    /// When no other event is left, a refused one cannot be distinguished from a wrong password, and a hanging one is
    /// no proof of a working backend: without a pardon an outage would last for ever.
    func pardon() {
        backend.forbidden = []
        backend.refusals = []
        if scenario.hasStorms { backend.hanging = [] }
        trouble?.isOn = false
    }

    /// Ends the session of a silent member.
    func sessionEnds(_ process: Process, join: Int) {
        let absence = max(cluster.awayUntil, cluster.groupsLoadUntil)
        guard absence <= now else {
            // After its return the coordinator gives every member another session.
            schedule(.sessionEnds(process, join: join), after: absence - now + SimulatedWorker.session)
            return
        }
        if let worker = worker(process) {
            // A member that is heard again, or has joined anew, has another session.
            guard worker.frozenUntil != nil, worker.joins == join else { return }
            worker.sessionEnded()
        }
        if cluster.members[process.member] != nil { log("\(process): its session ends") }
        rebalance(telling: cluster.remove(process.member))
    }
}
