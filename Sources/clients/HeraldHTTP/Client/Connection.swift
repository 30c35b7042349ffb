internal import HeraldTime

/// One connection of a pool.
///
/// Nothing of it changes, so that using it costs no check for exclusive access: what it is doing is its
/// ``ConnectionState``, which the pool keeps.
final class Connection {
    let slot: Int32
    let transport: Transport
    let reader = AnswerReader()

    init(slot: Int32, transport: Transport) {
        self.slot = slot
        self.transport = transport
    }
}

/// How far a connection is with the call it carries.
struct ConnectionState {
    /// The call, or `CallTable.none` when it is idle.
    var call = CallTable.none
    /// How many bytes of the request are written.
    var written = 0
    /// Since when it waits for work; nothing was left to read then.
    var idleSince = MonotonicTime(nanoseconds: .min)
    /// Whether it has waited for work: only then a request that it cannot take may go to another one without counting.
    var isPooled = false
    /// From then on it takes no call any more.
    var retireAt = MonotonicTime(nanoseconds: .max)
    /// Where it goes; `nil` when the proxy finds that out.
    var address: AddressCache.Number?
}
