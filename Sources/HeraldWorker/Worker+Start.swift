import HeraldKafka
import HeraldTelemetry
import HeraldTime

extension Worker {
    /// How long one question to the brokers may take at the start (milliseconds).
    private static let questionTimeout = 5_000

    /// Waits for the brokers and checks that the topics exist; `nil` when the lanes may start.
    func checkTopics(_ admin: Admin, _ watch: ClusterWatch) -> WorkerEnd? {
        var wasTold = false
        while !isStopping {
            do {
                let metadata = try admin.metadata(timeoutMilliseconds: Self.questionTimeout)
                watch.note(reachable: true)
                let present = Set(metadata.topics.map(\.name))
                let missing = configuration.requiredTopics.filter { !present.contains($0) }
                if missing.isEmpty { return checkTransactions(admin) }
                let verb = missing.count == 1 ? "is" : "are"
                return .failed(
                    "\(missing.joined(separator: ", ")) \(verb) missing, or Herald may not see "
                        + "\(missing.count == 1 ? "it" : "them"): run `herald topics apply`, or grant Describe.")
            } catch {
                watch.note(reachable: false, error)
                for notice in admin.takeNotices().notices {
                    troubles.kafka(notice, now: SystemClock.monotonic())
                }
                if !wasTold { logger.warning("no broker answers yet, trying on: \(error)") }
                wasTold = true
            }
        }
        return .stopped
    }

    /// librdkafka's embedded broker answers to transactions, and throws their offsets away.
    private func checkTransactions(_ admin: Admin) -> WorkerEnd? {
        guard configuration.needsTransactions,
            admin.clusterID(timeoutMilliseconds: Self.questionTimeout)?.hasPrefix("mockCluster") == true
        else { return nil }
        return .failed(
            "this is librdkafka's embedded broker, which has no real transactions: set delivery.guarantee to at-least-once."
        )
    }
}
