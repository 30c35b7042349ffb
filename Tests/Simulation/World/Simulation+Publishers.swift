import HeraldCore
import HeraldEvents
import HeraldTime

/// Publishers of events.
extension Simulation {
    func publish() {
        if let trouble = scenario.trouble {
            publish(amid: trouble)
            return
        }
        var transaction: Int?
        if chance[.openTransaction].happens(scenario.openTransactions) {
            transaction = cluster.openForeign(commits: chance[.openTransaction].below(3) > 0)
            schedule(.publisherEnds(transaction: transaction ?? 0), after: chance[.openTransaction].between(0, 8_000))
        }
        for _ in 0..<scenario.burst where published < scenario.events {
            let event = scenario.event(number: published, now: now, streams: &chance)
            published += 1
            let place = cluster.current(Place(topic: event.topic, partition: event.partition))
            // The publisher gets an error.
            if isMissing(place) { continue }
            let name = append(event, to: place, in: transaction)
            if event.hasOwnID, transaction == nil, chance[.twin].happens(scenario.twins) {
                schedule(.publishTwin(of: name), after: chance[.twin].between(0, 20_000))
            }
            if chance[.gap].happens(scenario.gaps) { appendGap(event.record, to: place) }
            if chance[.damage].happens(scenario.damages) { damage(name, beside: event) }
        }
        for worker in workers { worker.recordsArrived() }
        if published < scenario.events { schedule(.publish, after: chance[.burst].between(1, 100)) }
    }

    /// The same events at the same moments, whether or not the trouble strikes.
    private func publish(amid trouble: Trouble) {
        let count = trouble.crowd.contains(published) ? trouble.crowd.upperBound - published : scenario.burst
        for _ in 0..<count where published < scenario.events {
            let event = scenario.event(number: published, now: now, trouble)
            published += 1
            _ = append(event, to: Place(topic: event.topic, partition: event.partition), in: nil)
        }
        for worker in workers { worker.recordsArrived() }
        guard published < scenario.events else { return }
        var chance = trouble.chance(5, published, 0, 0)
        schedule(.publish, after: chance.between(1, Int64(20 * scenario.burst)))
    }

    /// Adds the record's duties, unless its transaction is going to be aborted.
    private func append(_ event: Scenario.Published, to place: Place, in transaction: Int?) -> RecordName {
        let (record, services) = (event.record, event.services)
        let offset =
            if let transaction {
                cluster.writeForeign(record, to: place, in: transaction)
            } else {
                cluster.append(record, to: place)
            }
        let name = RecordName(place: place, offset: offset)
        let isDuty = transaction.map { cluster.transactions[$0].commits } ?? true
        cluster[place].records[Int(offset)].duties = checkers.published(
            name, record, services: isDuty ? services : [], campaign: event.campaign, subject: event.subject)
        if let recall = event.subject.recall(of: record.user) { lastWords.published.append(recall) }
        log("published \(checkers.text(name)) of user \(record.user) for \(services)\(isDuty ? "" : ", to be aborted")")
        return name
    }

    /// Publishes the same event again, in the same partition.
    func publishTwin(of name: RecordName) {
        // The first of two is the one with the lower offset.
        guard !cluster.isDeleted(name.place), !isMissing(name.place), var record = cluster.record(name) else { return }
        record.timestamp = now
        let again = Scenario.Published(
            record: record, topic: name.place.topic, partition: name.place.partition,
            services: record.duties.map { checkers.duties[$0].service },
            campaign: record.duties.first.flatMap { checkers.duties[$0].campaign },
            subject: record.duties.first.map { checkers.duties[$0].subject } ?? Subject())
        let twin = append(again, to: name.place, in: nil)
        checkers.repeats(twin, name)
        log("\(checkers.text(twin)) is \(checkers.text(name)) once more")
        wake(name.place)
    }

    /// Adds offsets that are invisible to readers of committed records.
    private func appendGap(_ record: LogRecord, to place: Place) {
        if chance[.gap].below(4) == 0 {
            var aborted = record
            aborted.transaction = SimulatedCluster.foreignAbortedTransaction
            for _ in 0..<(1 + chance[.gap].below(3)) { _ = cluster.append(aborted, to: place) }
        }
        _ = cluster.append(.marker(now), to: place)
    }

    /// Damages a record, so that a client fails once to read it, or adds an unreadable batch behind it, which counts as
    /// one event.
    private func damage(_ name: RecordName, beside event: Scenario.Published) {
        guard chance[.damage].below(2) == 0 else {
            cluster[name.place].records[Int(name.offset)].damage = .fluke
            return
        }
        let end = cluster[name.place].end
        let offsets = end..<end + 1 + Int64(chance[.damage].below(70))
        let damage = LogRecord.Damage.batch(offsets, chance[.damage].pick(LogRecord.Damage.Client.allCases))
        for offset in offsets {
            var record = event.record
            record.damage = damage
            // The error in its place gives the reason.
            record.value = record.value ?? []
            record.size = .usual
            record.isMarker = offset > offsets.lowerBound
            record.duties = []
            _ = cluster.append(record, to: name.place)
        }
        let first = RecordName(place: name.place, offset: offsets.lowerBound)
        cluster[name.place].records[Int(first.offset)].duties = checkers.published(
            first, event.record, services: [-1], campaign: nil)
        log("\(checkers.text(first)) and \(offsets.count - 1) more can't be read")
    }

    /// The start of reading a partition, in order to recognise earlier events: the window's first record, or the first
    /// record that is younger than all taken ones.
    func historyStart(of place: Place, committed: Int64?, metadata: String) -> Int64 {
        // A log that ends before the offset is another one: its records may be new.
        guard let committed, committed <= cluster[place].end else { return committed ?? 0 }
        var starts = [committed]
        if let evidence = map(metadata, committed, place)?.evidence, evidence.newest >= 0,
            let younger = cluster.firstOffset(of: place, youngerThan: evidence.newest)
        {
            starts.append(max(younger, evidence.begin))
        }
        if cluster.firstNumbers[place.topic] < scenario.topics.requests.count {
            let records = cluster[place].records
            let first = records.firstIndex { $0.timestamp >= now - scenario.duplicateWindow.count } ?? records.count
            starts.append(max(Int64(first), cluster[place].start))
        }
        return starts.min() ?? committed
    }
}
