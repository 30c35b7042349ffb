package import HeraldKafka
import HeraldTime

extension BatchWriter {
    /// The reason why a batch was not written.
    package enum Failure: Error, Sendable, Equatable {
        /// The broker will not take it; nothing of the batch was written, for certain.
        case refused(KafkaError)
        /// Whether it was written shows when the name is claimed again.
        case lost(Loss)

        /// Whether the writer can only claim its name again; the log then shows what it has written.
        package var needsClaim: Bool {
            switch self {
            case .lost(.fenced), .lost(.inDoubt): true
            case .refused, .lost(.unreachable), .lost(.unclaimable): false
            }
        }
    }
}

extension BatchWriter.Configuration {
    private static let standardTransactionTimeout: Milliseconds = .seconds(10)

    /// A writer's configuration for a client with these properties.
    package init(_ properties: ClientProperties) {
        self.init(
            transactionTimeout: properties["transaction.timeout.ms"].flatMap { Int64($0).map { .milliseconds($0) } }
                ?? Self.standardTransactionTimeout)
    }
}
