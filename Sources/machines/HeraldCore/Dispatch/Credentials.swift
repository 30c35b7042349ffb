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
    /// Their push services, and perhaps more.
    private(set) var suspectServices = PushServiceSet()
    /// What each push service makes of them.
    private var services: [Service]
    /// The number of the latest call before they changed, or were accepted again after an outage.
    private var outdated: UInt64 = 0

    private struct Service: Sendable {
        /// The number of the latest call whose answer showed that the credentials are accepted.
        var accepted: UInt64 = 0
        /// The users refused by their first calls, and those of them that were refused again.
        var refused = RefusalRow()
        var refusedAgain = RefusalRow()
    }

    init(width: Int) { services = Array(repeating: Service(), count: width) }

    /// Whether a call to a push service that began after the one with this number was accepted.
    func wereAccepted(after sequence: UInt64, by service: Int) -> Bool { services[service].accepted > sequence }

    /// Whether a call to any push service that began after the one with this number was accepted.
    func wereAccepted(after sequence: UInt64) -> Bool { services.contains { $0.accepted > sequence } }

    mutating func noteAccepted(by sequence: UInt64, _ service: Int) {
        services[service].accepted = max(services[service].accepted, sequence)
        guard !services[service].refused.isEmpty else { return }
        services[service].refused.accept(sequence)
        if services[service].refused.isEmpty { services[service].refusedAgain.removeAll() }
    }

    /// Notes that the call with this number was refused: the first of its event, or a later one.
    mutating func noteRefused(_ sequence: UInt64, _ service: Int, user: UInt64, sender: UInt64, isFirst: Bool) {
        guard sequence > services[service].accepted else { return }
        let (row, most) = (isFirst ? \Service.refused : \.refusedAgain, Self.mostSuspects)
        services[service][keyPath: row].add(sequence, user: user, sender: sender, most: most)
    }

    /// The push services that have refused first calls which were sent after the latest accepted one of all, and the
    /// number of their users.
    var refusing: (services: PushServiceSet, users: Int) {
        let accepted = services.reduce(0) { max($0, $1.accepted) }
        var refusing = PushServiceSet()
        var users: Set<UInt64> = []
        for number in services.indices {
            let refused = services[number].refused.users(after: accepted)
            if !refused.isEmpty { refusing.insert(number) }
            users.formUnion(refused)
        }
        return (refusing, users.count)
    }

    /// The users that this push service refused in a row, when they are too many for users' own refusals.
    func rowOfRefusals(by service: Int) -> RefusalRow? {
        let (most, row) = (Self.mostSuspects, services[service].refused)
        return row.count >= most && services[service].refusedAgain.count >= most ? row : nil
    }

    mutating func forgetRefusals(by service: Int) {
        services[service].refused.removeAll()
        services[service].refusedAgain.removeAll()
    }

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

    mutating func suspect(_ call: SuspectCall) {
        suspects.append(call)
        suspectServices.insert(Int(call.token.service))
    }

    /// Takes this one out.
    mutating func clear(_ token: CallToken) { suspects.removeAll { $0.token == token } }

    mutating func takeSuspects() -> [SuspectCall] {
        let taken = suspects
        suspects.removeAll(keepingCapacity: true)
        suspectServices = PushServiceSet()
        return taken
    }

    /// Forgets all calls.
    mutating func forgetCalls() {
        refused.removeAll()
        _ = takeSuspects()
        for service in services.indices { forgetRefusals(by: service) }
    }
}
