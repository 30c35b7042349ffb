/// How a call came out that makes something durable, and with that what is done next.
public enum TransactionOutcome: Sendable, Equatable {
    /// The broker has it.
    case acknowledged
    /// It may work another time; of a transaction: the same call has to be made again.
    case failedForNow
    /// The group does not take it from this member any more; a rebalance is coming. A transaction has to be aborted.
    case refused
    /// The transaction can only be aborted.
    case abortable
    /// The producer can't be used again; `isFenced` when the broker knows a newer one by its name.
    case fatal(isFenced: Bool)
}
