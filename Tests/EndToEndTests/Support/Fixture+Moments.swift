import TestSupport

/// The worst moments for a kill or a late request.
///
/// For processes started with ``behindProxy``.
extension Fixture {
    private var proxy: KafkaProxy {
        get throws {
            guard let proxy = kafka.proxy else { throw WorldError("the fixture's cluster has no proxy") }
            return proxy
        }
    }

    /// Lets no transaction end from now on.
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

    /// Releases held requests; transactions end normally again.
    func endTransactions() throws { try proxy.letGo() }

    /// Drops the request that ends the transaction; transactions end normally again.
    func loseTransactionEnd() throws { try proxy.drop() }

    /// Kills a process while its own transaction is open on a topic.
    func killInTransaction(_ run: HeraldProcess, on shortName: String) async throws {
        try await holdInTransaction(run, on: shortName)
        run.kill()
        try loseTransactionEnd()
    }

    /// The next request of this kind loses its connection on its way, and is sent again on another; the first copy
    /// arrives at ``deliverLate()``.
    func makeLate(_ request: KafkaProxy.Request, count: Int = 1) throws { try proxy.makeLate(request, count: count) }

    /// Waits until `count` requests are late.
    func waitForLate(_ count: Int) async throws {
        let proxy = try proxy
        try await wait("\(count) requests are late") { proxy.lateCount >= count }
    }

    /// Delivers the late requests, and waits until the broker has answered.
    func deliverLate() async throws {
        let proxy = try proxy
        let goal = proxy.answeredLateCount + proxy.lateCount
        proxy.deliverLate()
        try await wait("the broker has answered what was late") { proxy.answeredLateCount >= goal }
    }
}
