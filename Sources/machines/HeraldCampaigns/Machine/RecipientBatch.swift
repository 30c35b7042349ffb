internal import HeraldDriver
package import HeraldKernel
internal import HeraldTools

/// The recipients that are published together, from the line of the audience to the committed transaction: pure.
package struct RecipientBatch: Sendable {
    /// How far a batch is.
    package enum State: String, CheckedState, CaseIterable {
        /// There is none.
        case idle
        /// Lines of the audience are looked at.
        case gathering
        /// It waits for the writer, or until the campaign is resumed.
        case gathered
        case writing

        package var name: Self { self }

        package static let transitions = TransitionTable<Self>([
            .init([.idle], "rate, ramp and outcomes allow some", [.gathering]),
            .init([.gathering], "it is full, a turn's lines are read, or the audience ends", [.gathered]),
            .init([.gathering], "a pause is read before the audience", [.idle]),
            .init([.gathered], "all of these lines are published, and more are left", [.idle]),
            .init([.gathered], "the campaign runs, and the writer is free", [.writing]),
            .init([.writing], "committed", [.idle]),
            .init([.gathering, .gathered, .writing], "the publisher begins anew: what is published is read", [.idle]),
        ])
    }

    /// Recipients in one transaction at most: a quarter of what may be open, so that three are with the workers while the next
    /// one is committed.
    static let recipientLimit = PublishAdmission.openLimit / 4
    /// Lines of the audience that are looked at in one turn, when most of them are published already.
    static let linesPerTurn = 20_000
    /// Bytes of events in one transaction at most.
    static let byteLimit = 4 << 20

    private(set) var state = State.idle
    private(set) var records: [OutgoingRecord] = []
    private var ids: [RecipientID] = []
    /// Whether the audience has no recipient behind it.
    private(set) var isLast = false
    private var limit = 0
    private var lines = 0
    private var bytes = 0

    /// How many recipients it has.
    var count: Int { records.count }

    /// Looks for up to so many recipients.
    mutating func begin(atMost limit: Int) {
        state.become(.gathering)
        (self.limit, lines, bytes) = (limit, 0, 0)
        records.reserveCapacity(limit)
    }

    /// Whether this recipient's event is in it.
    func contains(_ id: RecipientID) -> Bool { ids.contains(id) }

    /// Takes a line's recipient.
    mutating func add(_ record: OutgoingRecord, of id: RecipientID) {
        bytes += record.byteCount
        records.append(record)
        ids.append(id)
        passLine()
    }

    /// Passes a line that has no recipient, or one who is published already.
    mutating func passLine() {
        lines += 1
        if records.count >= limit || bytes >= Self.byteLimit || lines >= Self.linesPerTurn { state.become(.gathered) }
    }

    /// No further recipient is left.
    mutating func complete() {
        isLast = true
        if state == .gathering { state.become(.gathered) }
    }

    mutating func write() { state.become(.writing) }

    /// There is none any more.
    mutating func clear() {
        guard state != .idle else { return }
        state.become(.idle)
        (records, ids, isLast) = ([], [], false)
    }
}
