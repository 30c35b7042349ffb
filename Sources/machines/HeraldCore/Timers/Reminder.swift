/// Why the engine wants to be reminded.
enum Reminder: Equatable {
    /// A quick retry of one push service may be called.
    case quickRetry(CallToken)
    /// An event that waited in memory may go on.
    case event(SlotID)
    /// A paused retry partition is fetched again.
    case resume(SlotID)
    /// A record that the broker would not take is produced again.
    case production(ProductionID)
    /// An event that had a record refused is offered again.
    case refusedEvent(SlotID)
    /// A call that was refused twice has waited for others' answers.
    case suspect(CallToken)
}
