import Foundation
import HeraldThreads
import HeraldTime
import Testing

@testable import HeraldHTTP

@Suite("The event loop")
struct EventLoopTests {
    @Test("A signal from another thread ends the wait and carries the token")
    func wakeup() throws {
        let loop = try EventLoop()
        let wakeup = try Wakeup()
        let token = EventToken(owner: 9, payload: 0x12_3456_789A)
        try loop.add(wakeup.descriptor, token: token, interest: .readableEdges)
        #expect(loop.wait(timeout: .zero) == 0)
        for _ in 1...3 {
            Thread.detachNewThread { wakeup.signal() }
            #expect(loop.wait(timeout: .seconds(20)) == 1)
            #expect(loop[0].token == token)
            #expect(loop[0].token.owner == 9)
            #expect(loop[0].token.payload == 0x12_3456_789A)
            #expect(loop[0].isReadable)
            wakeup.drain()
        }
        loop.remove(wakeup.descriptor)
        wakeup.signal()
        #expect(loop.wait(timeout: .zero) == 0)
    }

    @Test("Signals before a drain are one event, and an edge is reported once")
    func edges() throws {
        let loop = try EventLoop()
        let wakeup = try Wakeup()
        try loop.add(wakeup.descriptor, token: EventToken(owner: 1), interest: .readableEdges)
        wakeup.signal()
        wakeup.signal()
        #expect(loop.wait(timeout: .zero) == 1)
        #expect(loop.wait(timeout: .zero) == 0)
        wakeup.drain()
        wakeup.signal()
        #expect(loop.wait(timeout: .zero) == 1)
    }

    @Test("A watched state is reported for as long as it lasts, and watching twice is an error")
    func levels() throws {
        let loop = try EventLoop()
        let wakeup = try Wakeup()
        try loop.add(wakeup.descriptor, token: EventToken(owner: 1), interest: .readable)
        #expect(throws: SystemError.self) {
            try loop.add(wakeup.descriptor, token: EventToken(owner: 1), interest: .readable)
        }
        wakeup.signal()
        #expect(loop.wait(timeout: .zero) == 1)
        #expect(loop.wait(timeout: .zero) == 1)
        try loop.change(wakeup.descriptor, token: EventToken(owner: 2), interest: .writable)
        #expect(loop.wait(timeout: .zero) == 1)
        #expect(loop[0].token.owner == 2)
        #expect(!loop[0].isReadable)
    }

    @Test(
        "A wait never ends before its deadline, nor lasts for ever",
        arguments: [
            (nil, nil), (0, 0), (-5, 0), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2),
            (.max, 9_223_372_036_855),
        ] as [(Int64?, Int64?)])
    func timeouts(nanoseconds: Int64?, milliseconds: Int64?) {
        let now = MonotonicTime(nanoseconds: 0)
        let deadline = nanoseconds.map { MonotonicTime(nanoseconds: $0) }
        #expect(EventLoop.timeout(until: deadline, now: now) == milliseconds.map { .milliseconds($0) })
    }

    @Test("A pool's tokens come back unchanged", arguments: [0, 1, 77, 4_294_967_295])
    func poolTokens(number: Int) throws {
        let token = PoolToken(kind: .connection, group: 513, number: number).eventToken(owner: 255)
        #expect(token.owner == 255)
        let back = try #require(PoolToken(token))
        #expect(back.kind == .connection && back.group == 513 && back.number == number)
    }
}
