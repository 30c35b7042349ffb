internal import HeraldDriver
package import HeraldEvents
package import HeraldTime

/// Why a job on dead letters waits, found in the state that it acts on when it is asked: nothing about it is kept.
extension ReplayMachine {
    /// Why the job does not go on; `nil` when it has ended.
    package func waiting(now: Moment) -> JobWaitReason? {
        guard !isOver else { return nil }
        if let reason = writer.waiting(now: now) { return reason }
        switch phase {
        case .idle, .claiming, .writing, .ended: return .nextTurn
        case .looking: return .reading(.lease)
        case .watching(let lease, let end):
            return .otherJob(name: lease.job, owner: lease.owner, until: now.wall(end))
        case .reading: return .reading(.marks)
        case .working:
            // The step that it would take now is found by the code that takes it, on a copy.
            var copy = self
            switch copy.nextStep(now) {
            case .wait(let reason): return reason
            case .gather where mayTakeLetter: return .reading(.letters)
            case .gather, .write, .cut, .end: return .nextTurn
            }
        }
    }

    /// Why a letter is not replayed or marked yet; `nil` when it is, or does not belong to the job.
    package func waiting(forPartition partition: Int32, offset: Int64, now: Moment) -> JobWaitReason? {
        guard let reason = waiting(now: now) else { return nil }
        if batch.contains(partition: partition, offset: offset) { return reason }
        let next = (takenTo[partition] ?? -1) + 1
        guard offset >= next, plan.contains(partition: partition, offset: offset) else { return nil }
        let ahead = batch.letterCount + plan.count(in: partition, next..<offset)
        return ahead == 0 ? reason : .turn(ahead: ahead, doing: reason.phrase)
    }
}
