import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldTime

extension Lane {
    /// The interval of looks at the partitions' progress.
    private static var progressInterval: Milliseconds { .seconds(1) }

    /// Leaves a report for others.
    func leaveReport(now: Moment) {
        announceTroubles(now: now.monotonic)
        announceRefusingTopic(now: now.monotonic)
        if now.monotonic >= nextProgress || partitionReports.count != engine.progress.count
            || reportedReading != reading
        {
            reportedReading = reading
            nextProgress = now.monotonic.advanced(by: Self.progressInterval)
            partitionReports = progress()
            oldestEvents = engine.oldestEvents(now: now)
            waiting = engine.waitCounts(now: now)
            nextDue = engine.outage == nil ? nil : engine.nextEventDue.map { now.wall($0) }
        }
        // The former one may be read at this moment.
        let isLeft = io.leave(report(now: now))
        nextReport = now.monotonic.advanced(
            by: isLeft ? intervals.report : LaneIntervals.reportRetry)
    }

    /// Logs the events' troubles since the last time.
    private func announceTroubles(now: MonotonicTime) {
        io.announceTroubles(engine.counters, since: reported, now: now)
        reported = engine.counters
    }

    /// The lane's last report.
    func lastReport() -> LaneReport {
        let now = io.now
        announceTroubles(now: now.monotonic)
        partitionReports = []
        oldestEvents = []
        waiting = []
        nextDue = nil
        var last = report(now: now)
        last.hasEnded = true
        (last.outage, last.outageSince, last.holds) = (nil, nil, [])
        return last
    }

    private func report(now: Moment) -> LaneReport {
        let services = configuration.decoder.pushServices.names.count
        var report = LaneReport(
            number: number, at: now.monotonic, services: services, requestTopics: configuration.topics.requests.count)
        report.isReady = isSubscribed
        report.phase = engine.phase
        report.outage = engine.outage.map { OutageReport($0.reason, status: $0.status) }
        report.outageSince = engine.outage?.since
        if engine.outage != nil { report.lastCall = meter.lastCallAt.map { now.wall($0) } }
        report.nextDue = nextDue
        report.holds = engine.holds
        report.inFlightLimit = engine.inFlightLimit
        report.rateLimits = (0..<services).map { engine.rateLimit(ofService: $0) }
        report.counters = engine.counters
        report.publishers = engine.publishers
        report.meter = meter
        (report.calls, report.events, report.records) = engine.load
        report.partitions = partitionReports
        report.reading = reportedReading
        if !lostOffsets.isEmpty {
            let waiting = withoutOffsets
            report.withoutOffsets = waiting.filter { lostOffsets[$0]?.isLost == true }
            report.lookedUp = waiting.filter { lostOffsets[$0]?.evidence == .sought }
            report.unanswered = waiting.compactMap {
                guard case .unanswered(let error)? = lostOffsets[$0]?.evidence else { return nil }
                return LaneReport.Unanswered(partition: $0, text: error.words)
            }
            report.otherGroups = otherGroups
        }
        report.lostRecords = lostRecords.values.sorted {
            ($0.partition.topic, $0.partition.partition) < ($1.partition.topic, $1.partition.partition)
        }
        report.beginning = pendingAssignment.map {
            LaneReport.Beginning(since: pendingSince, partitions: $0.count, trouble: pendingTrouble?.words)
        }
        report.oldestEvents = oldestEvents
        report.waiting = waiting
        (report.cappedUsers, report.capBytes) = engine.capsSize
        report.refusal = topicRefusal ?? refusal
        let detours = engine.detours(now: now.monotonic)
        report.refusedRecords = refusedRecords(detours)
        report.detours = Dictionary(detours.map { ($0.topic, $0.instead) }) { $1 }
        report.groupObstacle = groupObstacle
        report.commitTrouble = commitTrouble
        outcomesWaitSince = engine.hasOutcomesToRecord ? outcomesWaitSince ?? now.monotonic : nil
        report.outcomesWaitSince = outcomesWaitSince
        report.commitInterval = configuration.commitInterval
        return report
    }

    private func progress() -> [PartitionReport] {
        var places = engine.progress.map { place in
            let partition = TopicPartition(topic: place.topic, partition: place.number)
            return PartitionReport(
                partition, delay: configuration.topics.delay(ofTopic: place.topic)?.description,
                done: place.done ?? lostOffsets[partition]?.retained?.lowerBound, next: place.next, isHeld: place.isHeld
            )
        }
        guard hasQueues else { return places }
        for (source, (partitions, count)) in zip(engine.sourceList.map(\.partitions), io.queueCounts).enumerated()
        where count > 0 || refused?.source == source {
            for partition in partitions { places[Int(partition)].isHeld = true }
        }
        return places
    }

    private func refusedRecords(_ detours: [Engine.Detour]) -> [LaneReport.RefusedRecords] {
        guard engine.refusingTopic == nil else { return [] }
        var refused = engine.refusedEvents.filter { entry in !detours.contains { $0.topic == entry.key } }
            .sorted { $0.key < $1.key }.compactMap { topic, events in
                recordRefusals[topic].map {
                    LaneReport.RefusedRecords(
                        topic: topic, events: events, since: $0.since, text: $0.text, remedy: $0.remedy)
                }
            }
        for detour in detours where detour.retries > 0 {
            guard let refusal = recordRefusals[detour.topic] else { continue }
            refused.append(
                .init(
                    topic: detour.topic, events: detour.retries, since: refusal.since, text: refusal.text,
                    remedy: refusal.remedy, instead: detour.instead))
        }
        return refused
    }

    /// Notes the end of a commit.
    func noteCommit(_ outcome: TransactionOutcome, _ error: KafkaError?) {
        let now = io.now.monotonic
        meter.commitEnded(outcome, now: now)
        if outcome == .acknowledged {
            commitTrouble = nil
            refusal = nil
            outcomesWaitSince = nil
        } else {
            commitTrouble = .init(since: commitTrouble?.since ?? now, text: error?.words ?? "no answer")
        }
    }
}
