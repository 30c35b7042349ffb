internal import Glibc
internal import HeraldEvents
internal import HeraldHub
internal import HeraldKafka
package import HeraldTelemetry
package import HeraldThreads

/// Follows the results topic and says what became of each notification that a hub took; one runs for a group at a time.
///
/// It works in sessions (``FeedbackSession``). A session begins with what is durable and ends with the first trouble of a
/// transaction; so there is one way to begin, after a kill as after a broker that was away.
package final class FeedbackFollower: Sendable {
    /// How it ended.
    package enum End: Equatable, Sendable {
        /// It was told to.
        case stopped
        /// It cannot go on; a sentence says why.
        case failed(String)
    }

    private static let pauseMilliseconds = 2_000

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

    /// Works until it is stopped or cannot go on.
    ///
    /// Blocks.
    package func run() -> End {
        // A broker that has just come back may not know every topic.
        var hasFollowed = false
        while !isStopping.withLock({ $0 }) {
            do {
                let session = try FeedbackSession(
                    configuration, logger: logger, wakeup: wakeup, isStopping: { self.isStopping.withLock { $0 } })
                defer { session.close() }
                hasFollowed = true
                try session.run()
            } catch let end as FeedbackSession.Ending {
                if case .final(let sentence) = end { return .failed(sentence) }
            } catch let error as KafkaError {
                if !hasFollowed, let sentence = finalSentence(error) { return .failed(sentence) }
                logger.warning("beginning again from what is committed: \(error)")
                pause()
            } catch {
                logger.warning("beginning again from what is committed: \(error)")
                pause()
            }
        }
        return .stopped
    }

    private func finalSentence(_ error: KafkaError) -> String? {
        let topics = configuration.topics
        switch error.kind {
        case .forbidden:
            return "the brokers forbid it: \(error)"
                + error.advice(
                    KafkaPermission(.read, .write, on: .topic(topics.results), .topic(topics.feedback)))
        case .unsupported: return "the brokers have no transactions, and feedback needs them: \(error)"
        case .unknownTopic:
            return "\(topics.results) or \(topics.feedback) is missing; make them with: herald topics apply (\(error))"
        default: return nil
        }
    }

    private func pause() {
        guard !isStopping.withLock({ $0 }) else { return }
        wakeup.drain()
        _ = wakeup.wait(for: .milliseconds(Self.pauseMilliseconds))
    }
}
