import HeraldCampaigns
import HeraldEvents
import HeraldReplay
import HeraldTime
import HeraldTools

/// Compares a job's reasons for waiting with its behaviour.
///
/// It is asked after its turn: then it has done all that it could. So no reason is *nothing*, and none names a moment
/// in the past.
extension SimulatedJob {
    func check(_ reason: JobWaitReason?) {
        guard let reason else { return misuse("it lives, and says that it has ended") }
        if reason.kind == .nextTurn { misuse("nothing is in its way, and it waits") }
        let now = now.wall
        if let until = reason.until, until < now {
            misuse("\(reason.kind.word) should have ended \(now.time(since: until).count) ms ago")
        }
    }
}

extension SimulatedCampaign {
    func checkWaiting(_ machine: CampaignMachine) { check(machine.waiting(now: now)) }
}

extension SimulatedReplay {
    /// Checks one letter each time, in turn: a letter without a reason is dealt with.
    func checkWaiting(_ machine: ReplayMachine) {
        check(machine.waiting(now: now))
        guard let letters = order?.letters, !letters.isEmpty else { return }
        let letter = letters[simulation.inputs % letters.count]
        let partition = Int32(letter.place.partition)
        if let reason = machine.waiting(forPartition: partition, offset: letter.offset, now: now) {
            if case .turn(let ahead, let doing) = reason, ahead <= 0 || doing.isEmpty {
                misuse("\(simulation.checkers.text(letter)) is behind no letter: \(reason)")
            }
        } else if !simulation.isDealtWith(letter) {
            misuse("\(simulation.checkers.text(letter)) waits for nothing, and is not replayed")
        }
    }
}
