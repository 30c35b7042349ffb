import HeraldCore
import HeraldEvents
import HeraldTime
import HeraldWorker

/// Compares an engine's reasons for waiting with its behaviour.
///
/// It is asked after its turn: then every event that could continue has continued, and all due work is done. So no
/// reason is *nothing*, and none names a moment in the past.
extension SimulatedWorker {
    /// The number of turns for each that is examined.
    static let waitingIsAsked = 16

    func checkWaiting() {
        guard simulation.isWaitingAsked() else { return }
        let now = self.now
        var count = 0
        var besides: [SlotID: Int64] = [:]
        lane.engine.forEachEvent { slot in
            count += 1
            let waits = lane.engine.waits(of: slot, now: now, names: { ("slot \($0)", "") })
            for (services, reason) in waits { check(reason, of: slot, services, now: now) }
            let id = SlotID(index: slot, generation: lane.engine.slot(slot).generation)
            guard answered.contains(id), waits.contains(where: { $0.reason.kind == .pushServiceHeld }) else { return }
            besides[id] = heldBeside[id] ?? simulation.now
        }
        heldBeside = besides
        checkHeldBeside()
        let sum = lane.engine.waitCounts(now: now).reduce(0, +)
        if sum != count { simulation.checkers.fail("\(process) counts \(sum) reasons of \(count) events") }
    }

    /// No event of which a call has its outcome waits in memory for a held push service: a kill would repeat that call,
    /// however long ago it was.
    private func checkHeldBeside() {
        guard let since = heldBeside.values.min(), simulation.now - since > Self.mostHeldBeside else { return }
        simulation.checkers.fail(
            "promise 3: \(process) keeps an outcome for \(simulation.now - since) ms, because another push service is held"
        )
    }

    /// The engine looks every second for what an outage kept in memory (milliseconds).
    private static let mostHeldBeside: Int64 = 1_500

    /// The engine does its own work when it is due, and not only when another cause wakes the lane.
    func checkPunctuality() {
        guard frozenFor == 0, let due = lane.engine.nextWake else { return }
        let late = simulation.now - max(Simulation.millisecond(of: due), lastTurn)
        if late > 0 { simulation.checkers.fail("\(process) does \(late) ms late what its engine is to do by itself") }
    }

    private func check(_ reason: WaitReason, of slot: Int32, _ services: PushServiceSet, now: Moment) {
        if reason == .nextTurn {
            simulation.checkers.fail(
                "\(process): slot \(slot), \(services.map { $0 }): nothing is in its way, and it waits")
        }
        if let until = reason.until, until < now.wall {
            simulation.checkers.fail(
                "\(process): slot \(slot), \(services.map { $0 }): \(reason.kind.word) should have ended "
                    + "\(now.wall.time(since: until).count) ms ago")
        }
        if reason.kind == .calling, let since = reason.since, since > now.wall {
            simulation.checkers.fail("\(process): slot \(slot) is being called since a moment to come")
        }
        if [.behindUser, .behindPartition, .behindSame].contains(reason.kind),
            reason.ahead == 0 || reason.phrase.hasSuffix(": ")
        {
            simulation.checkers.fail("\(process): slot \(slot) is behind no event: \(reason)")
        }
    }
}
