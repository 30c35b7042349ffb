package import HeraldKafka
package import HeraldKernel
package import HeraldTime

extension BatchWriter {
    /// A batch that is being written.
    package struct Attempt: Sendable {
        package var batch: Batch
        /// The time since which the batch is written, with all attempts at it.
        package var since: MonotonicTime
        /// The time after which no further attempt is made; `nil` for never.
        package var end: MonotonicTime?
        /// The pause before the next attempt (milliseconds).
        package var pause: Milliseconds
        /// The reason why the last call, or the last attempt, failed.
        package var cause: KafkaError?
        /// The reason why a broker refused a record of it.
        package var undelivered: KafkaError?
    }

    /// The reason why a transaction is aborted.
    package struct Cause: Sendable {
        package var error: KafkaError
        /// Whether another attempt would meet it again.
        package var isFinal: Bool
        /// Whether the broker may have made the commit: the abort only shows whether another process has the name.
        package var isInDoubt = false
    }

    /// The progress of a batch.
    package enum State: CheckedState {
        case unclaimed
        /// It gives up at this moment; `cause` is why the broker has not answered yet.
        case claiming(since: MonotonicTime, until: MonotonicTime?, cause: KafkaError?)
        /// Nothing is under way.
        case ready
        /// A transaction is open, and its records are offered.
        case producing(Attempt)
        /// The broker was asked; an inconclusive answer is followed by the same question at this moment.
        case committing(Attempt, askAgain: MonotonicTime?)
        case aborting(Attempt, Cause, askAgain: MonotonicTime?)
        /// The same batch is written again at this moment.
        case pausing(Attempt, until: MonotonicTime)
        case lost

        package enum Name: String, CaseIterable, Sendable {
            case unclaimed, claiming, ready, producing, committing, aborting, pausing, lost
        }

        package var name: Name {
            switch self {
            case .unclaimed: .unclaimed
            case .claiming: .claiming
            case .ready: .ready
            case .producing: .producing
            case .committing: .committing
            case .aborting: .aborting
            case .pausing: .pausing
            case .lost: .lost
            }
        }

        package static let transitions = TransitionTable<Name>([
            .init([.unclaimed, .ready, .lost], "the name is claimed", [.claiming]),
            .init([.claiming], "failed for now", [.claiming]),
            .init([.claiming], "the producer has its name", [.ready]),
            .init([.claiming], "it can't be claimed, or not in time", [.lost]),
            .init([.ready], "a batch is written", [.producing]),
            .init([.producing], "a record was not delivered", [.producing]),
            .init([.producing], "the producer has taken all records", [.committing]),
            .init([.producing], "it does not take one", [.aborting]),
            .init([.committing], "acknowledged", [.ready]),
            .init([.committing], "failed for now: asked again after a pause", [.committing]),
            .init([.committing], "a record was not delivered, or never will be: nothing was asked for", [.aborting]),
            .init([.committing], "in doubt: an abort shows whether the name is still its own", [.aborting]),
            .init([.aborting], "failed for now: asked again after a pause", [.aborting]),
            .init([.aborting], "acknowledged, and another attempt may succeed", [.pausing]),
            .init([.aborting, .pausing], "acknowledged, and none may: the batch is refused", [.ready]),
            .init([.pausing], "the pause is over", [.producing]),
            .init([.producing, .committing, .aborting, .pausing], "fenced, in doubt, or no broker in time", [.lost]),
        ])
    }
}
