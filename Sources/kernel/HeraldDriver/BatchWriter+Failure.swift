package import HeraldKafka
import HeraldTime

extension BatchWriter {
    /// Why a batch was not written.
    package enum Failure: Error, Sendable, Equatable {
        /// The broker will not take it; nothing of the batch was written, for certain.
        case refused(KafkaError)
        /// Whether it was written shows when the name is claimed again.
        case lost(Loss)

        /// Whether the writer can do nothing more before it claims its name again, and what was written tells what it has
        /// done.
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

    /// What a writer keeps to whose client has these properties.
    package init(_ properties: ClientProperties) {
        self.init(
            transactionTimeout: properties["transaction.timeout.ms"].flatMap { Int64($0).map { .milliseconds($0) } }
                ?? Self.standardTransactionTimeout)
    }
}
