import HeraldCampaigns
import HeraldEvents
import HeraldReplay
import HeraldTime
import HeraldTools

/// What a job says of why it waits, held against what it does.
///
/// It is asked when it has had its turn: then it has done what it could do. So no reason is *nothing*, and none names a
/// moment that has passed.
extension SimulatedJob {
    func check(_ reason: JobWaitReason?) {
        guard let reason else { return misuse("it lives, and says that it has ended") }
        if reason.kind == .nextTurn { misuse("nothing is in its way, and it waits") }
        let now = simulation.moment.wall
        if let until = reason.until, until < now {
            misuse("\(reason.kind.word) should have ended \(now.time(since: until).count) ms ago")
        }
    }
}

extension SimulatedCampaign {
    func checkWaiting(_ machine: CampaignMachine) { check(machine.waiting(now: now)) }
}

extension SimulatedReplay {
    /// One letter each time, in turn: one without a reason is dealt with.
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
