import TestSupport

/// The moments at which a kill or a late request is worst.
///
/// For what was started with ``behindProxy``.
extension Fixture {
    private var proxy: KafkaProxy {
        get throws {
            guard let proxy = kafka.proxy else { throw WorldError("the fixture's cluster has no proxy") }
            return proxy
        }
    }

    /// From now on no transaction ends.
    func holdTransactions() throws { try proxy.hold(.endTransaction) }

    /// Waits until a process wants to end a transaction in which it has written to a topic; others end.
    func holdInTransaction(_ run: HeraldProcess, on shortName: String) async throws {
        let proxy = try proxy
        proxy.hold(.endTransaction)
        while true {
            try await wait("it ends a transaction") { proxy.heldCount > 0 || !run.isRunning }
            guard run.isRunning else { throw WorldError("it ended before a transaction on \(shortName):\n\(run.tail)") }
            if try hasOpenTransaction(shortName) { return }
            proxy.release()
        }
    }

    /// What was held goes on, and transactions end as ever again.
    func endTransactions() throws { try proxy.letGo() }

    /// The order to end the transaction never arrives, and transactions end as ever again.
    func loseTransactionEnd() throws { try proxy.drop() }

    /// Ends a process at once while a transaction of its own is open on a topic.
    func killInTransaction(_ run: HeraldProcess, on shortName: String) async throws {
        try await holdInTransaction(run, on: shortName)
        run.kill()
        try loseTransactionEnd()
    }

    /// The next request of this kind loses its connection on its way, and is sent again on another; the first copy arrives
    /// at ``deliverLate()``.
    func makeLate(_ request: KafkaProxy.Request, count: Int = 1) throws { try proxy.makeLate(request, count: count) }

    /// Waits until so many requests are late.
    func waitForLate(_ count: Int) async throws {
        let proxy = try proxy
        try await wait("\(count) requests are late") { proxy.lateCount >= count }
    }

    /// Delivers what is late, and waits until the broker has answered.
    func deliverLate() async throws {
        let proxy = try proxy
        let goal = proxy.answeredLateCount + proxy.lateCount
        proxy.deliverLate()
        try await wait("the broker has answered what was late") { proxy.answeredLateCount >= goal }
    }
}
