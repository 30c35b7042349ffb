import HeraldCore

/// Coordinators that load: a broker became the leader of a partition of `__transaction_state` or `__consumer_offsets`, and
/// answers COORDINATOR_LOAD_IN_PROGRESS until it has read it.
///
/// Clients ask again by themselves, until the call's time is over; records of a partition that is in the transaction
/// already continue. While the transactions' coordinator loads, it ends no overdue transaction, and writes no marker.
extension Simulation {
    func coordinatorLoads() {
        let duration = chance[.coordinatorLoad].between(500, 20_000)
        let isOfGroups = chance[.coordinatorLoad].below(2) == 0
        log("the coordinator of \(isOfGroups ? "groups" : "transactions") loads for \(duration) ms")
        if isOfGroups {
            cluster.groupsLoadUntil = now + duration
        } else {
            cluster.transactionsLoadUntil = now + duration
        }
    }

    /// The moment until which the request gets no answer.
    func absence(for request: Request, of process: Process) -> Int64 {
        let loads: Int64 =
            switch request {
            case .unassigned, .offsets, .commit, .sendOffsets, .lookUp, .standing: cluster.groupsLoadUntil
            case .initialise, .addPartition, .end: cluster.transactionsLoadUntil
            case .write(_, let place, _, _, let epoch, let number, _):
                cluster.holds(place, of: identifier(of: process), epoch: epoch, number: number)
                    ? 0 : cluster.transactionsLoadUntil
            case .append, .state, .control: 0
            }
        return max(cluster.awayUntil, loads)
    }
}
