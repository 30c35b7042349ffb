import HeraldCore
import HeraldTime

/// Records that a worker takes.
extension SimulatedWorker {
    /// Gives the engine one record, if it wants one; false when it does not.
    func takeOne() -> Bool {
        guard let source = aside?.source ?? engine.nextSource() else { return false }
        guard let partition = aside?.partition ?? nextPartition(of: source) else {
            engine.exhausted(source: source)
            return true
        }
        let name = RecordName(place: places[partition], offset: fetched[partition])
        guard let record = simulation.cluster.record(name) else { return false }
        simulation.inputs += 1
        switch offer(record, source: source, name) {
        case .noRoom:
            aside = (source, partition)
            return false
        case .kept(let id):
            if records[Int(id.index)] != nil { simulation.checkers.fail("slot \(id.index) still has a record") }
            if isZombie, !simulation.scenario.isAtomic { hit(name) }
            records[Int(id.index)] = name
            fetched[partition] += 1
        case .done:
            fetched[partition] += 1
        }
        aside = nil
        return true
    }

    /// A partition of the source with a record to read, beginning with any.
    private func nextPartition(of source: Int) -> Int? {
        guard simulation.cluster.awayUntil <= simulation.now else { return nil }
        let partitions = engine.sourceList[source].partitions
        guard !partitions.isEmpty else { return nil }
        let first = simulation.chance.below(partitions.count)
        for step in partitions.indices {
            let partition = Int(partitions[(first + step) % partitions.count])
            guard !isPaused[partition], simulation.cluster[places[partition]].leaderlessUntil <= simulation.now else {
                continue
            }
            if simulation.cluster.seek(places[partition], from: &fetched[partition]) { return partition }
            tellEnd(of: partition)
        }
        return nil
    }

    /// The partition is read to its end, as far as a reader of committed records gets.
    private func tellEnd(of partition: Int) {
        guard endTold[partition] != fetched[partition] else { return }
        endTold[partition] = fetched[partition]
        simulation.inputs += 1
        engine.endReached(of: Int32(partition), at: fetched[partition])
    }

    private func offer(_ record: LogRecord, source: Int, _ name: RecordName) -> Intake {
        let timestamp = WallTime(milliseconds: record.timestamp)
        guard let value = record.value else {
            return engine.record(
                source: source, partition: Int32(name.place.partition), offset: name.offset, timestamp: timestamp,
                value: nil, headers: record.headers, now: moment)
        }
        return engine.record(
            source: source, partition: Int32(name.place.partition), offset: name.offset, timestamp: timestamp,
            value: value.span.bytes, headers: record.headers, now: moment)
    }
}
