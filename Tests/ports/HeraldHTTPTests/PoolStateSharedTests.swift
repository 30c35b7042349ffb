import HeraldTime
import Testing

@testable import HeraldHTTP

extension Pool {
    /// A pool with one connection that takes `places` calls at once.
    fileprivate static func shared(places: Int, limit: Int = 4) -> Pool {
        var pool = Pool(limit: limit, versions: .http2)
        pool.begin(0)
        _ = pool.actions()
        pool.greeted(0, places: places)
        let call = pool.calls(pool.actions())[0]
        pool.sharedAnswered(call, 0)
        _ = pool.ended()
        return pool
    }

    fileprivate mutating func greeted(_ slot: Int, places: Int) {
        state.connectedShared(slot, now: now)
        state.offers(slot, places: places, now: now, using: &chance)
    }

    fileprivate mutating func sharedAnswered(_ call: Int32, _ slot: Int) {
        state.answered(call, on: slot, status: 200, retryAfter: [], location: [], body: [], now: now)
    }

    fileprivate mutating func refuse(_ call: Int32, _ slot: Int) {
        state.refused(call, on: slot, Failure(kind: .connectionReset, detail: "refused"), now: now)
    }

    /// The calls to be written.
    fileprivate func calls(_ actions: [PoolState.Action]) -> [Int32] {
        actions.compactMap { if case .submit(_, let call) = $0 { call } else { nil } }
    }

    fileprivate mutating func sweep(after milliseconds: Int64) -> [PoolState.Action] {
        pass(milliseconds: milliseconds)
        state.tick(now)
        return actions()
    }
}

@Suite("The state of a pool whose connections are shared")
struct PoolStateSharedTests {
    @Test("A connection takes calls once the other side has greeted, up to both sides' limits")
    func places() {
        var pool = Pool(limit: 1, versions: .http2)
        for token in UInt64(1)...40 { pool.begin(token) }
        #expect(pool.actions() == [.connect(slot: 0)])
        pool.state.connectedShared(0, now: pool.now)
        let isGreeting = pool.state.isGreeting(0)
        #expect(isGreeting && pool.actions().isEmpty && pool.state.connectionCount == 0)
        pool.state.offers(0, places: 2, now: pool.now, using: &pool.chance)
        let calls = pool.calls(pool.actions())
        #expect(calls.count == 2 && pool.state.sharedCount == 1)
        pool.sharedAnswered(calls[0], 0)
        #expect(pool.actions().count == 1)
        pool.state.offers(0, places: 30, now: pool.now, using: &pool.chance)
        #expect(pool.actions().count == 30 - 2)
    }

    @Test("More than sixteen calls share a connection only if no other may be made, and they spread")
    func crowd() {
        var pool = Pool.shared(places: 100, limit: 2)
        for token in UInt64(1)...100 { pool.begin(token) }
        var actions = pool.actions()
        #expect(pool.calls(actions).count == SharedConnections.placesLimit && actions.last == .connect(slot: 1))
        #expect(pool.actions().isEmpty, "while another one is being made")
        pool.greeted(1, places: 100)
        actions += pool.actions()
        let slots = actions.compactMap { if case .submit(let slot, _) = $0 { slot } else { nil } }
        #expect(slots.count == 100 && (34...66).contains(slots.count { $0 == 0 }))
    }

    @Test("One more connection is made when all places are taken, within the need and the limit")
    func more() {
        var pool = Pool.shared(places: 2, limit: 3)
        for token in UInt64(1)...3 { pool.begin(token) }
        let actions = pool.actions()
        #expect(pool.calls(actions).count == 2 && actions.last == .connect(slot: 1))
        pool.greeted(1, places: 2)
        for token in UInt64(4)...9 { pool.begin(token) }
        #expect(pool.actions().contains(.connect(slot: 2)))
        pool.greeted(2, places: 2)
        #expect(pool.actions().count == 2 && pool.state.calls.waitingCount == 3)
    }

    @Test("Few connections are made before it is known whether they are shared, and one for each call if not")
    func unknown() {
        var pool = Pool(limit: 100, versions: .agreed)
        for token in UInt64(1)...90 { pool.begin(token) }
        #expect(pool.actions().count == PoolState.unknownConnectingLimit)
        pool.connected(0)
        #expect(pool.actions().count == 1 + PoolState.connectingLimit - 3)
        var shared = Pool(limit: 100, versions: .agreed)
        for token in UInt64(1)...60 { shared.begin(token) }
        _ = shared.actions()
        shared.greeted(0, places: 100)
        #expect(shared.actions().allSatisfy { if case .submit = $0 { true } else { false } })
    }

    @Test("Connections take turns, and calls that are written at once share one")
    func turns() {
        var pool = Pool.shared(places: 2)
        for token in UInt64(1)...3 { pool.begin(token) }
        _ = pool.actions()
        pool.greeted(1, places: 2)
        for call in pool.calls(pool.actions()) { pool.sharedAnswered(call, 1) }
        pool.sharedAnswered(0, 0)
        pool.sharedAnswered(1, 0)
        let turns = (UInt64(4)...7).map { token in
            pool.begin(token)
            let slots = pool.actions().map { if case .submit(let slot, _) = $0 { slot } else { -1 } }
            if token == 5 { pool.state.shared.turn() }
            return slots
        }
        #expect(turns == [[0], [0], [1], [1]] || turns == [[1], [1], [0], [0]])
    }

    @Test("A refused call goes first and costs nothing, three times")
    func refusals() {
        var pool = Pool.shared(places: 1, limit: 1)
        pool.begin(1)
        pool.begin(2)
        for _ in 1...3 {
            let call = pool.calls(pool.actions())[0]
            #expect(pool.state.calls[call].token == 1)
            pool.refuse(call, 0)
            #expect(pool.ended().isEmpty)
        }
        pool.refuse(pool.calls(pool.actions())[0], 0)
        #expect(pool.ended() == [.init(token: 1, status: 0, failure: .connectionReset)])
        #expect(pool.calls(pool.actions()).count == 1)
    }

    @Test("A leaving connection keeps its calls and takes none, and ends with the last of them")
    func leaving() {
        var pool = Pool.shared(places: 4, limit: 2)
        pool.begin(1)
        pool.begin(2)
        let calls = pool.calls(pool.actions())
        pool.state.leaving(0)
        pool.begin(3)
        #expect(pool.actions() == [.connect(slot: 1)])
        pool.sharedAnswered(calls[0], 0)
        #expect(pool.actions().isEmpty)
        pool.sharedAnswered(calls[1], 0)
        #expect(pool.actions() == [.close(slot: 0)] && pool.ended().map(\.token) == [1, 2])
    }

    @Test("An old connection takes no call; an idle one is closed")
    func age() {
        var idle = Pool.shared(places: 4)
        idle.state.heard(0, now: idle.now.advanced(by: .minutes(1)))
        #expect(idle.sweep(after: 60_000) == [.close(slot: 0)])
        #expect(idle.deadline == nil)
        var wanted = Pool.shared(places: 4)
        wanted.pass(milliseconds: 60_000)
        wanted.begin(1)
        #expect(wanted.actions() == [.close(slot: 0), .connect(slot: 0)])
    }

    @Test("A deadline or a cancellation ends a call, and not its connection")
    func deadlines() {
        var pool = Pool.shared(places: 4)
        pool.begin(1, milliseconds: 100)
        pool.begin(2)
        let calls = pool.calls(pool.actions())
        #expect(pool.sweep(after: 100) == [.abandon(slot: 0, call: calls[0])])
        #expect(pool.ended() == [.init(token: 1, status: 0, failure: .timeout)])
        let isKnown = pool.state.cancel(token: 2)
        #expect(isKnown)
        #expect(pool.actions() == [.abandon(slot: 0, call: calls[1])] && pool.state.connectionCount == 1)
        // Later answers to them are ignored.
        pool.sharedAnswered(calls[0], 0)
        #expect(pool.ended().isEmpty)
    }

    @Test("A silent connection gets a PING, takes no call meanwhile, and is given up in the end")
    func silence() {
        var pool = Pool.shared(places: 4, limit: 1)
        #expect(pool.sweep(after: 14_000).isEmpty)
        #expect(pool.sweep(after: 1_000) == [.ask(slot: 0)])
        pool.begin(1)
        #expect(pool.actions().isEmpty)
        pool.state.heard(0, now: pool.now)
        pool.pass(milliseconds: 5_000)
        #expect(pool.actions().count == 1)
        // With a call on it the limit is shorter, and counts from that call on.
        #expect(pool.sweep(after: 2_000).isEmpty)
        #expect(pool.sweep(after: 1_000) == [.ask(slot: 0)])
        #expect(pool.sweep(after: 4_000).isEmpty)
        #expect(pool.sweep(after: 1_000) == [.giveUp(slot: 0)])
    }

    @Test("A connection without a greeting is given up, and costs no call")
    func noGreeting() {
        var pool = Pool(limit: 2, versions: .http2)
        pool.begin(1)
        _ = pool.actions()
        pool.state.connectedShared(0, now: pool.now)
        #expect(pool.sweep(after: 9_000).isEmpty)
        #expect(pool.sweep(after: 1_000) == [.giveUp(slot: 0)])
        pool.connectFailed(0, .timeout)
        #expect(pool.actions() == [.close(slot: 0), .connect(slot: 0)] && pool.ended().isEmpty)
    }

    @Test("A renewal lets shared connections leave")
    func renewal() {
        var pool = Pool.shared(places: 4, limit: 2)
        pool.begin(1)
        let calls = pool.calls(pool.actions())
        pool.state.renew(pool.now)
        #expect(pool.actions().isEmpty)
        pool.sharedAnswered(calls[0], 0)
        #expect(pool.actions() == [.close(slot: 0)])
    }
}
