import HeraldEvents

/// A call that was refused twice while no other answer shows whether the credentials are to blame.
struct SuspectCall: Sendable {
    var token: CallToken
    var result: CallResult
}

/// The state of the credentials, and the calls that wait because of them.
///
/// A *refused* call waits for the renewal of the credentials. Refused again, it is *suspect* and waits for others'
/// answers. Calls that are gone meanwhile are recognised in their turn.
struct Credentials: Sendable {
    /// The number of users refused twice, and of first calls in a row, that proves the credentials to be the cause.
    ///
    /// Users that are called again are chosen by their refusals, and are no evidence on others. Few, because too many
    /// attempts with wrong credentials lock an account; more than one, because backends also answer 403 for one user.
    static let mostSuspects = 8

    /// Whether there are any.
    var areThere = true
    /// Whether the lane is renewing them.
    private var isRenewing = false
    /// The calls that wait for the renewal.
    private var refused = Ring(capacity: 16, filler: CallToken(slot: SlotID(index: 0, generation: 0), service: 0))
    private(set) var suspects: [SuspectCall] = []
    /// The number of the latest call whose answer showed that the credentials are accepted.
    private var accepted: UInt64 = 0
    /// The number of first calls, and the latest of them, refused since a later call was accepted.
    private var inRow = 0
    private var latestInRow: UInt64 = 0
    /// The number of the latest call before they changed, or were accepted again after an outage.
    private var outdated: UInt64 = 0

    /// Whether a call that began after the one with this number was accepted.
    func wereAccepted(after sequence: UInt64) -> Bool { accepted > sequence }

    mutating func noteAccepted(by sequence: UInt64) {
        accepted = max(accepted, sequence)
        if sequence > latestInRow { inRow = 0 }
    }

    /// Notes that the first call with this number was refused.
    mutating func noteRefused(_ sequence: UInt64) {
        guard sequence > accepted else { return }
        inRow += 1
        latestInRow = max(latestInRow, sequence)
    }

    /// Whether too many first calls in a row were refused to be some users' own refusals.
    var areRefusedInRow: Bool { inRow >= Self.mostSuspects }

    /// Whether a call with this number was made with earlier credentials, or while all calls were refused.
    func isOutdated(_ sequence: UInt64) -> Bool { sequence <= outdated }

    /// Notes that refusals of calls up to this number are no evidence about the present credentials.
    mutating func outdate(upTo sequence: UInt64) { outdated = sequence }

    /// Has a call wait for other credentials.
    mutating func renew(for token: CallToken) -> Action? {
        refused.append(token)
        guard !isRenewing else { return nil }
        isRenewing = true
        return .renewCredentials
    }

    mutating func renewed() { isRenewing = false }

    /// The next call that has waited for the renewal.
    mutating func takeRefused() -> CallToken? { refused.popFirst() }

    mutating func suspect(_ call: SuspectCall) { suspects.append(call) }

    mutating func takeSuspects() -> [SuspectCall] {
        let taken = suspects
        suspects.removeAll(keepingCapacity: true)
        return taken
    }

    /// Forgets all calls.
    mutating func forgetCalls() {
        refused.removeAll()
        suspects.removeAll()
        inRow = 0
    }
}
