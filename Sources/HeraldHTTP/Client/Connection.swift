/// One connection of a pool, and how far it is with the call it carries.
final class Connection {
    let slot: Int32
    let transport: Transport
    let reader = AnswerReader()
    /// The call that it carries, or `CallTable.none` when it is idle.
    var call = CallTable.none
    /// How many bytes of the request are written.
    var written = 0
    /// Whether it has waited for work: only then a request that it cannot take may go to another one without counting.
    var isPooled = false

    init(slot: Int32, transport: Transport) {
        self.slot = slot
        self.transport = transport
    }

    /// Takes a call.
    func begin(_ call: Int32, keepsBody: Bool) {
        self.call = call
        written = 0
        reader.begin(keepsBody: keepsBody)
    }
}
