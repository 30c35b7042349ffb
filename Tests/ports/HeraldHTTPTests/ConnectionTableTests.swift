import HeraldTime
import Testing

@testable import HeraldHTTP

@Suite("The connections that a server accepts, and their time limits")
struct ConnectionTableTests {
    private static let limits = ConnectionTable.Limits(
        connections: 256, ofNetwork: 160, reserved: 64, idleTimeout: .seconds(15), requestTimeout: .seconds(10))
    private var table = ConnectionTable(limits)

    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    private func peer(_ text: String) throws -> HTTPPeer { try #require(HTTPPeer(text)) }

    /// Opens connections until one is refused.
    private mutating func fill(from peer: HTTPPeer, firstSocket: Int32) -> Int {
        var socket = firstSocket
        while socket < firstSocket + 1_000, table.accepts(peer) {
            table.open(socket, from: peer, now: at(0))
            socket += 1
        }
        return Int(socket - firstSocket)
    }

    @Test("Two addresses that use all of their connections leave some for probes")
    mutating func reserved() throws {
        #expect(fill(from: try peer("192.0.2.1"), firstSocket: 1_000) == 160)
        #expect(fill(from: try peer("192.0.2.2"), firstSocket: 2_000) == 32)
        #expect(fill(from: try peer("192.0.2.3"), firstSocket: 3_000) == 8)
        #expect(table.accepts(try peer("192.0.2.4")))
        table.close(1_000)
        #expect(!table.accepts(try peer("192.0.2.1")))
    }

    @Test("All addresses of a /64 are one network, addresses of IPv4 and loopback are each their own")
    mutating func networks() throws {
        #expect(fill(from: try peer("2001:db8::1"), firstSocket: 1_000) == 160)
        #expect(!table.accepts(try peer("[2001:db8::ffff:1]:80")))
        #expect(table.accepts(try peer("2001:db8:0:1::1")))
        let addresses = ["192.0.2.1", "192.0.2.2:80", "::ffff:192.0.2.3", "::1", "127.0.0.1"]
        #expect(Set(try addresses.map { try peer($0).network }).count == 5)
        #expect(try peer("::ffff:192.0.2.1") == peer("192.0.2.1"))
        for text in ["", "192.0.2", "name", "[::1", "::g", "192.0.2.1.1"] { #expect(HTTPPeer(text) == nil, "\(text)") }
    }

    @Test("A request has to be complete ten seconds after its connection was opened, however slowly it arrives")
    mutating func requestDeadline() throws {
        table.open(7, from: try peer("::1"), now: at(0))
        #expect(table.takeOverdue(now: at(9)) == [])
        #expect(table.takeOverdue(now: at(10)) == [7])
        #expect(table.takeOverdue(now: at(11)) == [])
        table.close(7)
        #expect(table.isEmpty)
    }

    @Test("A server working on a request has no deadline, a slow reader has one for its bytes")
    mutating func answerDeadline() throws {
        table.open(7, from: try peer("::1"), now: at(0))
        table.hasRequest(7)
        #expect(table.takeOverdue(now: at(1_000)) == [])
        table.answers(7, byteCount: 16_384 * 100, now: at(1_000))
        #expect(table.takeOverdue(now: at(1_109)) == [])
        table.isDone(7, now: at(1_109))
        #expect(table.takeOverdue(now: at(1_133)) == [])
        #expect(table.takeOverdue(now: at(1_134)) == [7])
    }
}
