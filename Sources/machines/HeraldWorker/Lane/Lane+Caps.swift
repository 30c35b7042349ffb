import HeraldCore
import HeraldEvents
import HeraldTelemetry
import HeraldTime

extension Lane {
    /// Has the records of caps read for a new assignment.
    func askForCaps() {
        hasToldOfBrokenCaps = false
        let homes = engine.homePartitions
        if !homes.isEmpty { io.readCaps(of: homes, assignment: assignment) }
    }

    /// Takes records of caps; those for an earlier assignment are dropped.
    func receiveCaps(_ records: [CapMessage], for assignment: Int) {
        guard assignment == self.assignment else { return }
        let now = io.now
        for record in records where !take(record, now: now) && !hasToldOfBrokenCaps {
            hasToldOfBrokenCaps = true
            logger.warning(
                "\(configuration.topics.caps): a record is broken; what was delivered to its user is not known, and the "
                    + "caps count from now on",
                ["partition": .int(Int(record.partition))])
        }
    }

    private func take(_ record: CapMessage, now: Moment) -> Bool {
        guard let key = record.key else { return false }
        guard let value = record.value else {
            return engine.readCaps(record.partition, key: key.span.bytes, value: nil, now: now)
        }
        return engine.readCaps(record.partition, key: key.span.bytes, value: value.span.bytes, now: now)
    }

    /// Notes that these home partitions are read.
    func capsAreRead(_ homes: [Int32], for assignment: Int) {
        guard assignment == self.assignment else { return }
        for home in homes { engine.readCapsToEnd(home) }
    }
}
