import Foundation
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@testable import HeraldHTTP

private let okay = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

@Suite("The pool of connections")
struct ConnectionPoolTests {
    @Test(
        "Many calls share few connections, and every call gets its own answer",
        arguments: [Wire.plainAtOnce, .tlsAtOnce])
    func manyCalls(wire: Wire) throws {
        let server = try wire.server { peer in
            while true {
                let target = try peer.readRequest().split(separator: " ")[1]
                try peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(target.utf8.count)\r\n\r\n\(target)")
            }
        }
        defer { server.stop() }
        let driver = try wire.driver(server, limit: 3)
        let count = 600
        for token in 1...UInt64(count) {
            driver.begin(token, request: "POST /call/\(token) HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
        }
        #expect(driver.pool.callCount == count)
        let ended = driver.finish(count)
        #expect(ended.allSatisfy { $0.status == 200 && $0.body == "/call/\($0.token)" })
        #expect(Set(ended.map(\.token)).count == count)
        #expect(server.acceptedCount <= 3)
        #expect(driver.pool.callCount == 0 && driver.pool.waitingCount == 0)
        driver.pool.close()
    }

    @Test("A connection that the other side closes while it is idle is dropped at once")
    func idleClose() throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write(okay)
        }
        defer { server.stop() }
        let driver = try PoolDriver(origin: server.origin)
        for _ in 1...3 {
            #expect(driver.call()?.status == 200)
            let isDropped = driver.run { driver.pool.connectionCount == 0 }
            #expect(isDropped && driver.pool.idleCount == 0)
        }
    }

    @Test("Bytes on an idle connection end it")
    func unsolicited() throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write(okay)
            _ = try peer.readRequest()
            try peer.write(okay + okay)
            peer.readToEnd()
        }
        defer { server.stop() }
        let driver = try PoolDriver(origin: server.origin)
        #expect(driver.call()?.status == 200)
        #expect(driver.call()?.status == 200)
        let isDropped = driver.run { driver.pool.connectionCount == 0 }
        #expect(isDropped)
    }

    @Test(
        "An answer that waits on an idle connection is never taken for the next call's",
        arguments: [Wire.plainAtOnce, .tlsAtOnce])
    func unaskedAnswer(wire: Wire) throws {
        let isWritten = DispatchSemaphore(value: 0)
        let mayWrite = DispatchSemaphore(value: 0)
        let isFirst = Guarded(true)
        let server = try wire.server { peer in
            let lies = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            _ = try peer.readRequest()
            try peer.write(okay)
            if lies {
                mayWrite.wait()
                try peer.write("HTTP/1.1 299 Not Yours\r\nContent-Length: 0\r\n\r\n")
                isWritten.signal()
            }
            peer.readToEnd()
        }
        defer { server.stop() }
        let driver = try wire.driver(server)
        #expect(driver.call()?.status == 200)
        mayWrite.signal()
        isWritten.wait()
        // The loop has not turned since, so the bytes are not reported yet.
        #expect(driver.call()?.status == 200)
        #expect(server.acceptedCount == 2)
    }

    @Test(
        "Bytes after an answer without a body are never the next answer, whenever they arrive",
        arguments: [Wire.plainAtOnce, .tlsAtOnce],
        ["HTTP/1.1 204 No\r\nContent-Length: 43\r\n\r\n", "HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n"])
    func announcedSurplus(wire: Wire, head: String) throws {
        let server = try wire.server { peer in
            _ = try peer.readRequest()
            try peer.write(head)
            // A second call on this connection would find this after its request.
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 299 Not Yours\r\nContent-Length: 0\r\n\r\n")
        }
        defer { server.stop() }
        let driver = try wire.driver(server)
        for _ in 1...3 { #expect([204, 304].contains(driver.call()?.status)) }
        #expect(server.acceptedCount == 3)
    }

    @Test(
        "After bytes beyond an answer, each connection carries one call for a while",
        arguments: ["hello", "HTTP/1.1 299 Not Yours\r\nContent-Length: 0\r\n\r\n"])
    func surplus(bytes: String) throws {
        let first = First()
        let server = try ScriptedServer { peer in
            let lies = first.take()
            while true {
                _ = try peer.readRequest()
                try peer.write(lies ? okay + bytes : okay)
            }
        }
        defer { server.stop() }
        let driver = try PoolDriver(origin: server.origin)
        for _ in 1...3 { #expect(driver.call()?.status == 200) }
        #expect(server.acceptedCount == 3 && driver.pool.connectionCount == 0)
        driver.ahead += PoolState.distrustTime.count
        for _ in 1...3 { #expect(driver.call()?.status == 200) }
        #expect(server.acceptedCount == 4 && driver.pool.idleCount == 1)
        driver.pool.close()
    }

    @Test("A farewell on an idle connection is no surplus")
    func farewell() throws {
        let first = First()
        let isIdle = DispatchSemaphore(value: 0)
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write(okay)
            guard first.take() else {
                _ = peer.readToEnd()
                return
            }
            isIdle.wait()
            try peer.write("HTTP/1.1 408 Too Late\r\nConnection: close\r\n\r\n")
        }
        defer { server.stop() }
        let driver = try PoolDriver(origin: server.origin)
        #expect(driver.call()?.status == 200)
        isIdle.signal()
        #expect(driver.run { driver.pool.connectionCount == 0 })
        #expect(driver.call()?.status == 200 && driver.pool.idleCount == 1)
        driver.pool.close()
    }

    @Test("A kept connection found closed before a byte is written costs the call nothing")
    func stale() throws {
        let isAnswered = DispatchSemaphore(value: 0)
        let isReset = DispatchSemaphore(value: 0)
        let isFirst = Guarded(true)
        let server = try ScriptedServer { peer in
            let mayStay = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return !isFirst
            }
            _ = try peer.readRequest()
            try peer.write(okay)
            if mayStay {
                _ = peer.readToEnd()
                return
            }
            isAnswered.wait()
            peer.reset()
            isReset.signal()
        }
        defer { server.stop() }
        let driver = try PoolDriver(origin: server.origin)
        #expect(driver.call()?.status == 200)
        isAnswered.signal()
        isReset.wait()
        // The loop has not looked, and the pool still regards its connection as open.
        #expect(driver.pool.idleCount == 1)
        #expect(driver.call()?.status == 200)
        #expect(server.acceptedCount == 2)
        driver.pool.close()
    }

    @Test("A connection that breaks after the request was written is a reset", arguments: [true, false])
    func reset(isReset: Bool) throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write(okay)
            _ = try peer.readRequest()
            if isReset { peer.reset() }
        }
        defer { server.stop() }
        let driver = try PoolDriver(origin: server.origin)
        #expect(driver.call()?.status == 200)
        #expect(driver.call()?.failure == .connectionReset)
        #expect(server.acceptedCount == 1)
    }

    @Test("A closed port is a refusal for every call, one for each attempt")
    func refused() throws {
        let driver = try PoolDriver(origin: "http://127.0.0.1:\(try LoopbackSocket.unusedPort())")
        for token in 1...5 { driver.begin(UInt64(token)) }
        let ended = driver.finish(5)
        #expect(ended.allSatisfy { $0.failure == .connectionRefused && $0.body.contains("127.0.0.1") })
        #expect(driver.pool.connectionCount == 0 && driver.pool.callCount == 0)
    }

    @Test("An unknown name is not found")
    func nameNotFound() throws {
        let driver = try PoolDriver(origin: "http://no-such-host.invalid")
        let ended = try #require(driver.call(milliseconds: 60_000))
        #expect(ended.failure == .nameNotFound && ended.body.contains("no-such-host.invalid"))
    }

    @Test("One deadline covers the answer too, however slowly it comes", arguments: [Wire.plainAtOnce, .tlsAtOnce])
    func deadlines(wire: Wire) throws {
        let server = try wire.server { peer in
            let request = try peer.readRequest()
            if request.hasPrefix("POST /hang") {
                _ = peer.readToEnd()
                return
            }
            try peer.write("HTTP/1.1 200 OK\r\nX: ")
            while true {
                usleep(5_000)
                try peer.write("x")
            }
        }
        defer { server.stop() }
        let driver = try wire.driver(server)
        driver.begin(1, request: "POST /hang HTTP/1.1\r\n\r\n", milliseconds: 300)
        driver.begin(2, request: "POST /loris HTTP/1.1\r\n\r\n", milliseconds: 300)
        let ended = driver.finish(2)
        #expect(ended.allSatisfy { $0.failure == .timeout && $0.milliseconds < 5_000 })
        #expect(driver.pool.connectionCount == 0)
    }

    @Test("The deadline covers the handshake and the wait for a connection")
    func deadlineBeforeRequest() throws {
        // The kernel accepts the connection; no handshake follows.
        let (listener, port) = try LoopbackSocket.listen()
        defer { close(listener) }
        let driver = try PoolDriver(origin: "https://127.0.0.1:\(port)", limit: 1)
        driver.begin(1, milliseconds: 400)
        driver.begin(2, milliseconds: 100)
        driver.begin(3, milliseconds: 250)
        let ended = driver.finish(3)
        #expect(ended.map(\.token) == [2, 3, 1])
        #expect(ended.allSatisfy { $0.failure == .timeout && $0.milliseconds >= 100 })
    }

    @Test("A cancelled call has no completion, and its connection is not used again")
    func cancel() throws {
        let server = try ScriptedServer { peer in
            while true {
                if try peer.readRequest().hasPrefix("POST /hang") {
                    _ = peer.readToEnd()
                    return
                }
                try peer.write(okay)
            }
        }
        defer { server.stop() }
        let driver = try PoolDriver(origin: server.origin, limit: 1)
        driver.begin(1, request: "POST /hang HTTP/1.1\r\n\r\n")
        let isConnected = driver.run { driver.pool.connectionCount == 1 && driver.pool.waitingCount == 0 }
        #expect(isConnected)
        driver.begin(2, request: "POST /waits HTTP/1.1\r\n\r\n")
        driver.begin(3, request: "POST /fine HTTP/1.1\r\n\r\n")
        #expect(driver.cancel(2))
        #expect(driver.cancel(1))
        #expect(!driver.cancel(1))
        #expect(driver.finish(1).map(\.token) == [3])
        #expect(server.acceptedCount == 2 && driver.pool.callCount == 0)
        driver.pool.close()
    }

    @Test(
        "Closing forgets calls in every state, and the pool works again afterwards",
        arguments: [Wire.plainAtOnce, .tlsAtOnce])
    func closing(wire: Wire) throws {
        let server = try wire.server { peer in
            while true {
                if try peer.readRequest().hasPrefix("POST /hang") {
                    _ = peer.readToEnd()
                    return
                }
                try peer.write(okay)
            }
        }
        defer { server.stop() }
        let driver = try wire.driver(server, limit: 2)
        driver.begin(1, request: "POST /hang HTTP/1.1\r\n\r\n")
        #expect(driver.run { driver.pool.connectionCount == 1 })
        for token in 2...5 { driver.begin(UInt64(token), request: "POST /hang HTTP/1.1\r\n\r\n") }
        driver.pool.close()
        #expect(driver.pool.callCount == 0 && driver.pool.connectionCount == 0 && driver.pool.completions.isEmpty)
        #expect(driver.call()?.status == 200)
        driver.pool.close()
    }
}
