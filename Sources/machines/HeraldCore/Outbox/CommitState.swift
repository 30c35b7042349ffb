import HeraldTime

/// The state of making offsets durable, in one of two forms that is chosen once.
///
/// *Plain* (`delivery.guarantee: at-least-once`): a record is produced when its event is settled, its offset is complete when the
/// broker has acknowledged all of the event's records, and a commit sends the complete offsets.
///
/// | plain | when | then |
/// |---|---|---|
/// | `idle` | there is news, and the interval is over | `committing` |
/// | `committing` | any answer | `idle` |
///
/// *Atomic*: records and offsets become durable in one transaction. An event that is settled becomes a *member* of the open
/// transaction: its records are produced at once. What is settled while none is open, or a commit or an abort is under way, is
/// *pending*: it belongs to the next transaction. A commit sends the offsets as they are with the members complete, and members
/// *are* complete only when it is acknowledged. After an abort the members are pending again, with the same records, and no call
/// is repeated; the next transaction has room for half of them. Events of which a record was refused are *suspects*, which are
/// tried in transactions of their own (``Suspects``).
///
/// | atomic | when | then |
/// |---|---|---|
/// | `preparing` | the producer is ready | `closed`; in doubt: `resolving` |
/// | `preparing`, in doubt | the partitions are gone | `preparing`, without doubt |
/// | `closed` | many events are pending; or the interval is over, and an event is settled or pending, or there is news | `open` |
/// | `open` | the interval is over, it is full, of suspects or the last | `committing` |
/// | `open` | a record failed, or the partitions are gone | `aborting` |
/// | `committing` | acknowledged | `closed` |
/// | `committing` | refused, abortable | `aborting` |
/// | `aborting` | acknowledged | `closed` |
/// | `resolving` | made or not, or the partitions are gone | `closed` |
/// | `committing`, `resolving` | the producer is lost | `preparing`, in doubt |
/// | `closed`, `open`, `aborting` | the producer is lost | `preparing` |
/// | `ending`: each of these three | failed for now | the same, asked again after a pause |
///
/// Sources: KIP-98, KIP-447; which errors want which answer: librdkafka's `rd_kafka_error_is_retriable`,
/// `rd_kafka_error_txn_requires_abort`, `rd_kafka_error_is_fatal`.
enum CommitState: Sendable, Equatable {
    case plain(Plain)
    case atomic(Transaction)

    enum Plain: Sendable, Equatable {
        case idle(afterFailure: Bool)
        case committing
    }

    enum Transaction: Sendable, Equatable {
        /// The producer is being made; `doubt` is the transaction whose commit was under way when the former one was
        /// lost.
        case preparing(doubt: Attempt?)
        /// None is open.
        case closed
        /// Members join. The commit waits for `withheld` records without room in the producer's queue.
        case open(Attempt, withheld: Int)
        /// The broker was asked; an inconclusive answer is followed by the same question at this moment.
        case ending(Attempt, Ending, askAgain: MonotonicTime?)
    }

    enum Ending: Sendable, Equatable {
        /// Its partitions may have gone meanwhile (`isLeftBehind`): then its outcome is no evidence about the present
        /// ones.
        case committing(isLeftBehind: Bool)
        /// The group may have refused its offsets (`isRefused`).
        case aborting(isRefused: Bool)
        /// The producer was lost during a commit: the broker is asked for its outcome.
        case resolving
    }

    /// The properties of a transaction from its beginning to its end.
    struct Attempt: Sendable, Equatable {
        /// Whether it is a transaction of suspects: no other event joins, and it is committed at once.
        var isTrial = false
        /// Whether it fails because of a refused record, whose event does not come again with the others, or not to the
        /// same topic.
        var hasCulprit = false
    }

    var isAtomic: Bool { if case .atomic = self { true } else { false } }

    /// Whether members join.
    var isOpen: Bool { if case .atomic(.open) = self { true } else { false } }

    /// Whether the broker is asked for the outcome of a commit.
    var isResolving: Bool { if case .atomic(.ending(_, .resolving, _)) = self { true } else { false } }

    /// The transaction that has not ended.
    var attempt: Attempt? {
        switch self {
        case .plain, .atomic(.closed): nil
        case .atomic(.preparing(let doubt)): doubt
        case .atomic(.open(let attempt, _)), .atomic(.ending(let attempt, _, _)): attempt
        }
    }

    /// The transaction whose commit is under way: without the producer it is in doubt.
    var doubt: Attempt? {
        switch self {
        case .atomic(.ending(let attempt, .committing, _)), .atomic(.ending(let attempt, .resolving, _)): attempt
        default: nil
        }
    }
}
