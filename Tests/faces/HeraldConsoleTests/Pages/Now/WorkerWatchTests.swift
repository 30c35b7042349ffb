import HeraldTools
import TestSupport
import Testing

@testable import HeraldConsole

@Suite("Workers are asked in parallel")
struct WorkerWatchTests {
    private static let page = """
        {"reasons":[],"warnings":[],"group":{"name":"g","member":true},"assignment":{"partitions":1},"outages":[],
        "version":"1","inFlight":3,"inFlightLimit":4,"oldestSeconds":0,"services":[],"endToEnd":[],
        "surprise":[1,{"a":null}]}
        """

    private static func answer(_ body: String, status: Int = 200) -> String {
        "HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }

    private static func worker() throws -> ScriptedServer {
        try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write(answer(page))
        }
    }

    @Test("A hanging, a lying, an endless and an absent worker delay no other")
    func hostile() async throws {
        let good = try Self.worker()
        let hanging = try ScriptedServer { peer in _ = peer.readToEnd() }
        let lying = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write(Self.answer("<html>hello</html>"))
        }
        let endless = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            while true { try peer.write([UInt8](repeating: UInt8(ascii: "x"), count: 65_536)) }
        }
        let half = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 OK\r\n\r\n" + Self.page.dropLast())
            while true { try peer.write(",\"more\":1") }
        }
        let older = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write(Self.answer("there is no such page\n", status: 404))
        }
        let servers = [good, hanging, lying, endless, half, older]
        defer { for server in servers { server.stop() } }
        let gone = try LoopbackSocket.unusedPort()
        let watch = WorkerWatch()
        defer { watch.stop() }
        let addresses = servers.map { "127.0.0.1:\($0.port)" } + ["127.0.0.1:\(gone)"]
        watch.follow(addresses)
        func observation(_ index: Int) -> WorkerObservation? {
            watch.observations.first { $0.address == addresses[index] }
        }
        func isSilent(_ index: Int) -> Bool {
            if case .silent? = observation(index)?.state { true } else { false }
        }
        #expect(try await eventually { observation(0)?.isReady == true && observation(0)?.status?.inFlight == 3 })
        #expect(try await eventually { (1...6).allSatisfy(isSilent) })
        #expect((1...6).filter { observation($0)?.silence?.isOlder == true } == [5])
        // It goes on meanwhile.
        let asked = good.acceptedCount
        #expect(try await eventually { good.acceptedCount > asked + 2 })
    }

    @Test("Workers no longer named are forgotten, and those beyond the limit are left out")
    func follow() async throws {
        let worker = try Self.worker()
        defer { worker.stop() }
        let watch = WorkerWatch()
        defer { watch.stop() }
        watch.follow(["127.0.0.1:\(worker.port)"])
        #expect(try await eventually { watch.observations.contains(where: \.isReady) })
        watch.follow((0..<200).map { "127.0.0.1:\($0 + 1)" })
        #expect(watch.observations.count == WorkerWatch.limit && !watch.observations.contains(where: \.isReady))
        watch.follow([])
        #expect(watch.observations.isEmpty)
    }
}
