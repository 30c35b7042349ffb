import TestSupport

/// The moment at which a kill is worst: a transaction is written, and the order to end it has not reached the broker.
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

    /// The order to end the transaction never arrives, and transactions end as ever again.
    func loseTransactionEnd() throws { try proxy.drop() }

    /// Ends a process at once while a transaction of its own is open on a topic.
    func killInTransaction(_ run: HeraldProcess, on shortName: String) async throws {
        try await holdInTransaction(run, on: shortName)
        run.kill()
        try loseTransactionEnd()
    }
}
