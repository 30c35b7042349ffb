import HeraldEvents

/// A call that was refused twice while no other call's answer shows whether the credentials are to blame.
struct SuspectCall: Sendable {
    var token: CallToken
    var result: CallResult
}

/// What is known of the credentials, and which calls wait because of them.
///
/// A call that is *refused* waits for the renewal of the credentials. Refused again it is *suspect*: it waits for others' answers.
/// Calls that are gone meanwhile are recognised when their turn comes.
struct Credentials: Sendable {
    /// So many users are refused twice, and as many first calls in a row, before it must be the credentials.
    ///
    /// Users that are called again are chosen by their refusals, and say nothing about others. Few, because credentials
    /// that are shown too often lock an account; more than one, because backends also answer 403 for a single user.
    static let mostSuspects = 8

    /// Whether there are any.
    private(set) var areThere = true
    /// The lane renews them.
    private var isRenewing = false
    /// Calls that wait for that.
    private var refused = Ring(capacity: 16, filler: CallToken(slot: SlotID(index: 0, generation: 0), service: 0))
    private(set) var suspects: [SuspectCall] = []
    /// The number of the latest call whose answer showed that they are accepted.
    private var accepted: UInt64 = 0
    /// How many first calls, and the latest of them, were refused since a later call was accepted.
    private var inRow = 0
    private var latestInRow: UInt64 = 0
    /// That of the latest call before they were changed, or accepted again after an outage.
    private var outdated: UInt64 = 0

    /// Whether a call that began after the one with this number was accepted.
    func wereAccepted(after sequence: UInt64) -> Bool { accepted > sequence }

    mutating func noteAccepted(by sequence: UInt64) {
        accepted = max(accepted, sequence)
        if sequence > latestInRow { inRow = 0 }
    }

    /// The first call with this number was refused.
    mutating func noteRefused(_ sequence: UInt64) {
        guard sequence > accepted else { return }
        inRow += 1
        latestInRow = max(latestInRow, sequence)
    }

    /// Whether first calls were refused in such a row that some users' own refusals hardly explain it.
    var areRefusedInRow: Bool { inRow >= Self.mostSuspects }

    /// Whether a call with this number was made with earlier credentials, or while these were refused to all calls.
    func isOutdated(_ sequence: UInt64) -> Bool { sequence <= outdated }

    /// Refusals of calls up to this number say nothing of what the credentials are now.
    mutating func outdate(upTo sequence: UInt64) { outdated = sequence }

    mutating func set(areThere: Bool) { self.areThere = areThere }

    /// A call waits for other credentials.
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

    /// Nothing is called any more.
    mutating func forgetCalls() {
        refused.removeAll()
        suspects.removeAll()
        inRow = 0
    }
}
