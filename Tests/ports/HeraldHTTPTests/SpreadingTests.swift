import Dispatch
import Foundation
import HeraldThreads
import TestSupport
import Testing

@testable import HeraldHTTP

private let okay = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

@Suite("Connections over the addresses of a name")
struct SpreadingTests {
    /// A name for the servers on 127.0.0.x, with addresses that a test can change.
    private final class Name: Sendable {
        let answer: Guarded<NameResolver.Answer>
        let lookUps = Guarded(0)

        init(_ hosts: Int...) {
            answer = Guarded(.addresses(hosts.map { "127.0.0.\($0)" }))
        }

        func lookUp(_ host: String) -> NameResolver.Answer {
            lookUps.withLock { $0 += 1 }
            return answer.withLock { $0 }
        }
    }

    /// One server for each address, all on the same port.
    private func servers(_ hosts: [UInt8], _ script: @escaping ScriptedServer.Script) throws -> [ScriptedServer] {
        var servers: [ScriptedServer] = []
        for host in hosts {
            servers.append(try ScriptedServer(host: host, port: servers.first?.port ?? 0, script: script))
        }
        return servers
    }

    private func driver(_ port: UInt16, _ name: Name, limit: Int = 4) throws -> PoolDriver {
        try PoolDriver(
            ConnectionOptions(origin: "http://backend.example:\(port)", limit: limit), lookUp: { name.lookUp($0) })
    }

    @Sendable
    private static func answerForEver(_ peer: ScriptedPeer) throws {
        while true {
            _ = try peer.readRequest()
            try peer.write(okay)
        }
    }

    @Test("Connections spread evenly over all addresses, after one look-up")
    func spread() throws {
        let servers = try servers([1, 2, 3]) { peer in
            _ = try peer.readRequest()
            peer.readToEnd()
        }
        defer { for server in servers { server.stop() } }
        let name = Name(1, 2, 3)
        let driver = try driver(servers[0].port, name, limit: 12)
        for token in UInt64(1)...12 { driver.begin(token) }
        #expect(driver.run { driver.pool.connectionCount == 12 })
        #expect(driver.run { servers.map(\.acceptedCount) == [4, 4, 4] })
        #expect(name.lookUps.withLock { $0 } == 1)
        driver.pool.close()
    }

    @Test("An address that refuses costs no call, and all others get through")
    func oneRefuses() throws {
        let servers = try servers([1, 3], Self.answerForEver)
        defer { for server in servers { server.stop() } }
        let driver = try driver(servers[0].port, Name(2, 1, 4, 3), limit: 8)
        for token in UInt64(1)...100 { driver.begin(token) }
        #expect(driver.finish(100).allSatisfy { $0.status == 200 })
        driver.pool.close()
    }

    @Test("When every address refuses, each call is refused, without a hot loop")
    func allRefuse() throws {
        let name = Name(1, 2, 3)
        let driver = try driver(LoopbackSocket.unusedPort(), name)
        for token in UInt64(1)...5 { driver.begin(token) }
        #expect(driver.finish(5).allSatisfy { $0.failure == .connectionRefused })
        #expect(driver.pool.callCount == 0 && driver.pool.connectionCount == 0)
        #expect(name.lookUps.withLock { $0 } == 1)
    }

    @Test("Old connections take no more calls, and a name that moved is followed")
    func moved() throws {
        let servers = try servers([1, 2], Self.answerForEver)
        defer { for server in servers { server.stop() } }
        let name = Name(1)
        let driver = try driver(servers[0].port, name, limit: 2)
        #expect(driver.call()?.status == 200)
        name.answer.withLock { $0 = .addresses(["127.0.0.2"]) }
        // Neither the connection nor the look-up is old.
        #expect(driver.call()?.status == 200)
        #expect(servers.map(\.acceptedCount) == [1, 0])
        driver.ahead = 310_000
        #expect(driver.call()?.status == 200)
        #expect(servers.map(\.acceptedCount) == [1, 1] && driver.pool.connectionCount == 1)
        driver.pool.close()
    }

    @Test("An old idle connection is closed even without new calls, and a busy one is not")
    func ages() throws {
        let isFree = DispatchSemaphore(value: 0)
        let servers = try servers([1]) { peer in
            while true {
                let isSlow = try peer.readRequest().hasPrefix("POST /slow")
                if isSlow { isFree.wait() }
                try peer.write(okay)
            }
        }
        defer { for server in servers { server.stop() } }
        let driver = try driver(servers[0].port, Name(1))
        driver.begin(1, request: "POST /slow HTTP/1.1\r\n\r\n", milliseconds: 900_000)
        driver.begin(2)
        #expect(driver.finish(1).map(\.token) == [2])
        #expect(driver.pool.connectionCount == 2)
        driver.ahead = 200_000
        #expect(driver.run { driver.pool.connectionCount == 1 && driver.pool.idleCount == 0 })
        isFree.signal()
        #expect(driver.finish(1).map(\.status) == [200])
        #expect(driver.pool.connectionCount == 0)
    }

    @Test("A resolver that hangs blocks no loop: the call ends at its deadline, with the reason")
    func slowResolver() throws {
        let isDone = DispatchSemaphore(value: 0)
        defer { isDone.signal() }
        let driver = try PoolDriver(ConnectionOptions(origin: "http://backend.example:1")) { _ in
            isDone.wait()
            return .addresses(["127.0.0.1"])
        }
        let ended = try #require(driver.call(milliseconds: 200))
        #expect(ended.failure == .timeout && ended.body.contains("backend.example was not resolved"))
    }

    @Test("An unknown name fails every waiting call at once, and is looked up again for a later one")
    func notFound() throws {
        let servers = try servers([1], Self.answerForEver)
        defer { for server in servers { server.stop() } }
        let name = Name()
        name.answer.withLock { $0 = .failed(isGone: true, reason: "Name or service not known") }
        let driver = try driver(servers[0].port, name)
        for token in UInt64(1)...3 { driver.begin(token) }
        #expect(driver.finish(3).allSatisfy { $0.failure == .nameNotFound && $0.body.contains("backend.example") })
        #expect(name.lookUps.withLock { $0 } == 1)
        name.answer.withLock { $0 = .addresses(["127.0.0.1"]) }
        #expect(driver.call()?.status == 200)
        #expect(name.lookUps.withLock { $0 } == 2)
        driver.pool.close()
    }

    @Test("A resolver's later failure does not matter while the addresses still work")
    func resolverDown() throws {
        let servers = try servers([1], Self.answerForEver)
        defer { for server in servers { server.stop() } }
        let name = Name(1)
        let driver = try driver(servers[0].port, name)
        #expect(driver.call()?.status == 200)
        name.answer.withLock { $0 = .failed(isGone: false, reason: "Temporary failure in name resolution") }
        driver.ahead = 1_000_000
        #expect(driver.call()?.status == 200)
        #expect(servers[0].acceptedCount == 2 && name.lookUps.withLock { $0 } == 2)
        driver.pool.close()
    }
}
