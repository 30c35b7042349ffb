internal import HeraldDriver
internal import HeraldEvents
internal import HeraldHub
internal import HeraldKafka
package import HeraldTelemetry
package import HeraldThreads
internal import HeraldTime
package import HeraldTools

/// Follows the results topic and records the fate of each notification that a hub accepted; one runs per group.
///
/// ``FeedbackMachine`` decides, ``FeedbackClients`` performs.
package final class FeedbackFollower: Sendable {
    /// The time that a transaction waits for an absent broker or a moving leader.
    private static let patience: Milliseconds = .minutes(1)

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

    /// Works until it is stopped or cannot continue, which is thrown.
    ///
    /// Blocks.
    package func run() throws(ToolFailure) {
        let clients: FeedbackClients
        do {
            clients = try FeedbackClients(
                configuration, logger: logger, wakeup: wakeup, isStopping: { self.isStopping.withLock { $0 } })
        } catch {
            throw ToolFailure("\(error)")
        }
        defer { clients.close() }
        var writer = BatchWriter.Configuration(configuration.writerProperties)
        writer.patience = Self.patience
        let work = FeedbackPublication(configuration.engine, topics: configuration.topics, now: clients.now.monotonic)
        let driver = JobDriver(FeedbackMachine(work, writer: writer), io: clients)
        driver.run()
        clients.report(driver.machine.counts)
        switch driver.machine.end {
        case .failed(let failure): throw failure
        case .takenOver:
            throw ToolFailure(
                "another herald feedback of the same group has begun; only one of them works at a time")
        default: break
        }
    }
}
