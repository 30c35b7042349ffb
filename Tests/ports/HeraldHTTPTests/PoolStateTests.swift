import HeraldTime
import Testing

@testable import HeraldHTTP

/// A constant random source: the least of every range. (With 0, `random(in:)` would search for ever.)
struct NoChance: RandomNumberGenerator {
    func next() -> UInt64 { 1 << 40 }
}

/// A state and its clock, without a socket.
struct Pool: ~Copyable {
    var state: PoolState
    var now = MonotonicTime(nanoseconds: 0)
    var chance = NoChance()

    init(
        address: String? = "10.0.0.1", limit: Int = 4, hasProxy: Bool = false, versions: HTTPVersions = .http1
    ) {
        state = PoolState(
            host: "backend.example", address: address, limit: limit, resolvesHost: !hasProxy, versions: versions)
    }

    var deadline: MonotonicTime? { state.nextDeadline(or: nil) }

    mutating func pass(milliseconds: Int64) { now = now.advanced(by: .milliseconds(milliseconds)) }

    mutating func begin(_ token: UInt64, milliseconds: Int64 = 600_000) {
        state.begin(
            token: token, deadline: now.advanced(by: .milliseconds(milliseconds)), now: now, keepsBody: false
        ) { $0 = [1, 2, 3] }
    }

    /// The actions wanted now.
    mutating func actions() -> [PoolState.Action] {
        var actions: [PoolState.Action] = []
        while let action = state.nextAction(now, using: &chance) { actions.append(action) }
        return actions
    }

    mutating func connected(_ slot: Int) { state.connected(slot, now: now, using: &chance) }

    mutating func connectFailed(_ slot: Int, _ kind: FailureKind, isLocal: Bool = false) {
        state.connectFailed(
            slot, Failure(kind: kind, detail: "why", isLocal: isLocal), now: now, using: &chance)
    }

    mutating func answered(_ slot: Int, isReusable: Bool = true, isWritten: Bool = true) {
        if isWritten { state.sent(3, slot: slot) }
        state.answered(slot, status: 200, retryAfter: [], body: [], isReusable: isReusable, now: now)
    }

    /// The calls that have ended since the last look, with their outcomes.
    mutating func ended() -> [Ended] {
        defer { state.completions.removeAll() }
        return state.completions.all.map { Ended(token: $0.token, status: $0.status, failure: $0.failure) }
    }

    struct Ended: Equatable {
        var token: UInt64
        var status = 200
        var failure: FailureKind?
    }

    /// A pool with one idle connection that has carried a call.
    static func withIdleConnection(limit: Int = 4) -> Pool {
        var pool = Pool(limit: limit)
        pool.begin(0)
        _ = pool.actions()
        pool.connected(0)
        _ = pool.actions()
        pool.answered(0)
        _ = pool.ended()
        return pool
    }
}

@Suite("The state of a pool")
struct PoolStateTests {
    @Test("A raised limit gives waiting calls their connections at once")
    func raisedLimit() {
        var pool = Pool(limit: 1)
        for token in 0..<3 { pool.begin(UInt64(token)) }
        #expect(pool.actions() == [.connect(slot: 0)])
        pool.state.raise(limit: 3)
        #expect(Set(pool.actions().map { "\($0)" }).count == 2)
        pool.connected(0)
        pool.connected(1)
        pool.connected(2)
        #expect(pool.actions().count == 3 && pool.state.connectionCount == 3)
    }

    @Test("A call gets a connection, and the next one the same")
    func reuse() {
        var pool = Pool()
        pool.begin(1)
        #expect(pool.actions() == [.connect(slot: 0)])
        pool.connected(0)
        #expect(pool.actions() == [.send(slot: 0, ifSilent: false, keepsBody: false)])
        pool.answered(0)
        #expect(pool.ended() == [.init(token: 1)] && pool.state.idle.count == 1)
        pool.begin(2)
        // However soon it is.
        #expect(pool.actions() == [.send(slot: 0, ifSilent: true, keepsBody: false)])
    }

    @Test("The number of new connections is limited by waiting calls, by the pool, and by attempts at a time")
    func bounds() {
        var pool = Pool(limit: 3)
        for token in UInt64(1)...2 { pool.begin(token) }
        #expect(pool.actions().count == 2)
        for token in UInt64(3)...9 { pool.begin(token) }
        #expect(pool.actions().count == 1)
        var large = Pool(limit: 1_000)
        for token in UInt64(1)...1_000 { large.begin(token) }
        #expect(large.actions().count == PoolState.connectingLimit)
    }

    @Test("An idle connection has to be silent before it gets a call")
    func silence() {
        var pool = Pool.withIdleConnection()
        pool.pass(milliseconds: 1)
        pool.begin(1)
        #expect(pool.actions() == [.send(slot: 0, ifSilent: true, keepsBody: false)])
        pool.state.lost(0, .closedWhileIdle, now: pool.now)
        #expect(pool.actions() == [.close(slot: 0), .connect(slot: 0)])
        #expect(pool.ended().isEmpty)
    }

    @Test("A call whose stale connection took no byte precedes the waiting ones")
    func staleGoesFirst() {
        var pool = Pool.withIdleConnection(limit: 1)
        pool.begin(1)
        pool.begin(2)
        _ = pool.actions()
        pool.state.lost(0, Failure(kind: .connectionReset, detail: ""), now: pool.now)
        _ = pool.actions()
        pool.connected(0)
        _ = pool.actions()
        pool.answered(0)
        #expect(pool.ended() == [.init(token: 1)])
    }

    @Test("A call fails with its connection once a byte is sent, and at once on a new connection")
    func lossCounts() {
        var used = Pool.withIdleConnection()
        used.begin(1)
        _ = used.actions()
        used.state.sent(1, slot: 0)
        used.state.lost(0, Failure(kind: .connectionReset, detail: ""), now: used.now)
        #expect(used.ended() == [.init(token: 1, status: 0, failure: .connectionReset)])
        var new = Pool()
        new.begin(1)
        _ = new.actions()
        new.connected(0)
        _ = new.actions()
        new.state.lost(0, Failure(kind: .connectionReset, detail: ""), now: new.now)
        #expect(new.ended() == [.init(token: 1, status: 0, failure: .connectionReset)])
        #expect(new.actions() == [.close(slot: 0)])
    }

    @Test(
        "A connection is closed after an answer that forbids its use, or that preceded the end of the request",
        arguments: [(false, true), (true, false)])
    func notReusable(isReusable: Bool, isWritten: Bool) {
        var pool = Pool.withIdleConnection()
        pool.begin(1)
        _ = pool.actions()
        pool.answered(0, isReusable: isReusable, isWritten: isWritten)
        #expect(pool.ended() == [.init(token: 1)])
        #expect(pool.actions() == [.close(slot: 0)] && pool.state.connectionCount == 0)
    }

    @Test("After bytes that belong to no answer, connections are used once only, for a long time")
    func distrust() {
        var pool = Pool.withIdleConnection()
        pool.state.distrust(pool.now)
        #expect(pool.actions() == [.close(slot: 0)])
        for isTrusted in [false, true] {
            if isTrusted { pool.pass(milliseconds: PoolState.distrustTime.count) }
            pool.begin(1)
            _ = pool.actions()
            pool.connected(0)
            _ = pool.actions()
            pool.answered(0)
            #expect(pool.actions() == (isTrusted ? [] : [.close(slot: 0)]))
        }
        #expect(pool.state.idle.count == 1)
    }

    @Test("An old connection is closed when it is idle, and gets no call")
    func age() throws {
        var idle = Pool.withIdleConnection()
        idle.pass(milliseconds: 60_000)
        let deadline = idle.deadline
        #expect(try #require(deadline) <= idle.now)
        idle.state.tick(idle.now)
        #expect(idle.actions() == [.close(slot: 0)])
        #expect(idle.deadline == nil)
        var wanted = Pool.withIdleConnection()
        wanted.pass(milliseconds: 60_000)
        wanted.begin(1)
        #expect(wanted.actions() == [.close(slot: 0), .connect(slot: 0)])
    }

    @Test("A deadline ends a call in any phase, and its connection too")
    func deadlines() {
        var pool = Pool.withIdleConnection(limit: 1)
        pool.begin(1, milliseconds: 200)
        _ = pool.actions()
        pool.begin(2, milliseconds: 100)
        #expect(pool.deadline == pool.now.advanced(by: .milliseconds(100)))
        pool.pass(milliseconds: 200)
        pool.state.tick(pool.now)
        #expect(pool.ended().map(\.token) == [2, 1])
        #expect(pool.actions() == [.close(slot: 0)] && pool.state.calls.count == 0)
    }

    @Test("A cancelled call ends its connection, and has no completion")
    func cancel() {
        var pool = Pool.withIdleConnection(limit: 1)
        pool.begin(1)
        _ = pool.actions()
        pool.begin(2)
        let isKnown = [pool.state.cancel(token: 2), pool.state.cancel(token: 1), pool.state.cancel(token: 1)]
        #expect(isKnown == [true, true, false])
        #expect(pool.actions() == [.close(slot: 0)] && pool.ended().isEmpty)
    }

    @Test("A renewal closes idle and new connections at once, and the others after their calls")
    func renewal() {
        var pool = Pool(limit: 2)
        pool.begin(1)
        pool.begin(2)
        _ = pool.actions()
        pool.connected(0)
        _ = pool.actions()
        pool.state.renew(pool.now)
        #expect(pool.actions() == [.close(slot: 1), .connect(slot: 1)])
        pool.answered(0)
        #expect(pool.actions() == [.close(slot: 0)] && pool.ended() == [.init(token: 1)])
    }

    @Test("A refused attempt is repeated once before it fails a call")
    func refusal() {
        var pool = Pool()
        pool.begin(1)
        _ = pool.actions()
        pool.connectFailed(0, .connectionRefused)
        #expect(pool.actions() == [.close(slot: 0), .connect(slot: 0)])
        pool.connectFailed(0, .connectionRefused)
        #expect(pool.ended() == [.init(token: 1, status: 0, failure: .connectionRefused)])
        #expect(pool.actions() == [.close(slot: 0)])
    }

    @Test("A shortage on this machine fails no call, and pauses attempts for a moment")
    func scarcity() {
        var pool = Pool()
        pool.begin(1)
        _ = pool.actions()
        pool.connectFailed(0, .connectFailed, isLocal: true)
        #expect(pool.actions() == [.close(slot: 0)] && pool.ended().isEmpty)
        #expect(pool.deadline == pool.now.advanced(by: .milliseconds(100)))
        pool.pass(milliseconds: 100)
        #expect(pool.actions() == [.connect(slot: 0)])
    }

    @Test("A name is looked up once before the first connection, and its calls fail if it is unknown")
    func lookUp() {
        var pool = Pool(address: nil)
        pool.begin(1)
        pool.begin(2)
        #expect(pool.actions() == [.lookUp])
        #expect(pool.actions().isEmpty)
        pool.state.lookedUp(.addresses(["10.0.0.7"]), isLocal: false, now: pool.now)
        #expect(pool.actions().first == .connect(slot: 0) && pool.state.address(0) == "10.0.0.7")
        var unknown = Pool(address: nil)
        unknown.begin(1)
        _ = unknown.actions()
        unknown.state.lookedUp(.failed(isGone: true, reason: "no such name"), isLocal: false, now: unknown.now)
        #expect(unknown.ended() == [.init(token: 1, status: 0, failure: .nameNotFound)])
    }

    @Test("A look-up that this machine could not make is repeated later, and fails no call")
    func lookUpAgain() {
        var pool = Pool(address: nil)
        pool.begin(1)
        _ = pool.actions()
        pool.state.lookedUp(.failed(isGone: true, reason: "no thread"), isLocal: true, now: pool.now)
        #expect(pool.actions().isEmpty && pool.ended().isEmpty)
        #expect(pool.deadline == pool.now.advanced(by: .seconds(1)))
        pool.pass(milliseconds: 1_000)
        #expect(pool.actions() == [.lookUp])
    }

    @Test("With a proxy no name is looked up")
    func proxy() {
        var pool = Pool(address: nil, hasProxy: true)
        pool.begin(1)
        #expect(pool.actions() == [.connect(slot: 0)] && pool.state.address(0) == nil)
    }

    @Test("Closing ends every connection in any phase, and the state can be used again")
    func closing() {
        var pool = Pool.withIdleConnection(limit: 3)
        for token in UInt64(1)...3 { pool.begin(token) }
        _ = pool.actions()
        pool.state.closeAll()
        var closed: Set<Int> = []
        while let chore = pool.state.nextChore() {
            if case .close(let slot) = chore { closed.insert(slot) }
        }
        #expect(closed == [0, 1, 2] && pool.state.calls.count == 0 && pool.ended().isEmpty)
        pool.begin(4)
        #expect(pool.actions().count == 1)
    }
}
