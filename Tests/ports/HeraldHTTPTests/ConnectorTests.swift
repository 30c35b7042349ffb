import Foundation
import HeraldTime
import TestSupport
import Testing

@testable import HeraldHTTP

@Suite("Connections made by libcurl")
struct ConnectorTests {
    /// Connects in this slot, as a pool does.
    private func connect(_ connector: Connector, slot: Int, _ loop: EventLoop) throws -> Transport {
        #expect(connector.start(slot: slot, address: nil) == nil)
        let end = ContinuousClock.now + .seconds(Patience.seconds)
        while ContinuousClock.now < end {
            for index in 0..<loop.wait(timeout: .milliseconds(10)) {
                let event = loop[index]
                if let token = PoolToken(event.token) { connector.socketReady(token, event: event) }
            }
            connector.tick(SystemClock.monotonic())
            if case .connected(let number)? = connector.nextOutcome(), number == slot { break }
        }
        return try #require(connector.transport(slot: slot))
    }

    @Test("A socket that was handed over stays open when libcurl makes another, even after its peer has closed")
    func pruning() async throws {
        let server = try ScriptedServer { peer in
            if try peer.readRequest().contains("/end") { return }
            peer.readToEnd()
        }
        defer { server.stop() }
        let loop = try EventLoop()
        let connector = Connector(loop: loop, owner: 3, options: ConnectionOptions(origin: server.origin, limit: 4))
        let first = try connect(connector, slot: 0, loop)
        let request = Array("GET /end HTTP/1.1\r\n\r\n".utf8)
        guard case .bytes(request.count) = request.withUnsafeBytes({ first.send($0) }) else {
            Issue.record("the request is not taken")
            return
        }
        // libcurl looks for dead connections once a second at most.
        try await Task.sleep(for: .milliseconds(1_100))
        let second = try connect(connector, slot: 1, loop)
        #expect(second.socket != first.socket)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 1)
        defer { buffer.deallocate() }
        guard case .end = first.receive(into: buffer) else {
            Issue.record("the end of the first connection is not seen")
            return
        }
        connector.closeAll()
    }
}
