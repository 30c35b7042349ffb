/// The outcome of a call that makes something durable, which decides the next step.
public enum TransactionOutcome: Sendable, Equatable {
    /// The broker has it.
    case acknowledged
    /// It may succeed later; a transaction's call has to be repeated.
    case failedForNow
    /// The group no longer accepts it from this member; a rebalance is coming. A transaction has to be aborted.
    case refused
    /// The transaction can only be aborted.
    case abortable
    /// The producer can't be used again; `isFenced` when the broker knows a newer one by its name.
    case fatal(isFenced: Bool)
}
