internal import HeraldDriver
internal import HeraldEvents
internal import HeraldHub
internal import HeraldKafka
package import HeraldTelemetry
package import HeraldThreads
internal import HeraldTime

/// Follows the results topic and records the fate of each notification that a hub accepted; one runs per group.
///
/// ``FeedbackMachine`` decides, ``FeedbackClients`` performs.
package final class FeedbackFollower: Sendable {
    /// The way it ended.
    package enum End: Equatable, Sendable {
        /// It was asked to stop.
        case stopped
        /// It cannot continue, for this reason.
        case failed(String)
    }

    private let configuration: FeedbackConfiguration
    private let logger: Logger
    private let isStopping = Guarded(false)
    private let wakeup: Wakeup

    package init(_ configuration: FeedbackConfiguration, logger: Logger) throws(SystemError) {
        self.configuration = configuration
        self.logger = logger
        wakeup = try Wakeup()
    }

    /// Ends ``run()`` in good order; from any thread.
    package func stop() {
        isStopping.withLock { $0 = true }
        wakeup.signal()
    }

    /// Works until it is stopped or cannot continue.
    ///
    /// Blocks.
    package func run() -> End {
        let clients: FeedbackClients
        do {
            clients = try FeedbackClients(
                configuration, logger: logger, wakeup: wakeup, isStopping: { self.isStopping.withLock { $0 } })
        } catch {
            return .failed("\(error)")
        }
        defer { clients.close() }
        let driver = JobDriver(FeedbackMachine(configuration.machine, now: clients.now.monotonic), io: clients)
        driver.run()
        clients.report(driver.machine.counts)
        switch driver.machine.end {
        case .failed(let error): return .failed(finalSentence(error))
        case .replaced:
            return .failed("another herald feedback of the same group has begun; only one of them works at a time")
        case .stopped, nil: return .stopped
        }
    }

    private func finalSentence(_ error: KafkaError) -> String {
        let topics = configuration.topics
        switch error.kind {
        case .forbidden:
            return "the brokers forbid it: \(error)"
                + error.advice(
                    KafkaPermission(.read, .write, on: .topic(topics.results), .topic(topics.feedback)))
        case .unsupported: return "the brokers have no transactions, and feedback needs them: \(error)"
        default:
            return "\(topics.results) or \(topics.feedback) is missing; make them with: herald topics apply (\(error))"
        }
    }
}

extension FeedbackConfiguration {
    /// The time that a transaction waits for an absent broker or a moving leader.
    private static let patience: Milliseconds = .minutes(1)

    fileprivate var machine: FeedbackMachine.Configuration {
        FeedbackMachine.Configuration(
            engine: engine,
            writer: BatchWriter.Configuration(
                transactionTimeout: Milliseconds(transactionTimeout), patience: Self.patience),
            topics: topics)
    }
}
