import Glibc
import TestSupport
import Testing

@testable import HeraldKafka

@Suite("Addresses of brokers")
struct BrokerDirectoryTests {
    /// Three ports that take connections.
    private func ports() throws -> (Int, Int, Int) {
        (try KafkaProxy().port, try KafkaProxy().port, try KafkaProxy().port)
    }

    private func broker(_ id: Int32, _ port: Int) -> ClusterMetadata.Broker {
        ClusterMetadata.Broker(id: id, host: "127.0.0.1", port: port)
    }

    /// The port that a connection to this one reaches.
    private func end(_ port: Int, _ directory: BrokerDirectory) -> Int? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw -> Int? in
                guard directory.connect(descriptor, raw, size, place: "127.0.0.1:\(port)") == 0,
                    getpeername(descriptor, raw, &size) == 0
                else { return nil }
                return Int(UInt16(bigEndian: UnsafeRawPointer(raw).load(as: sockaddr_in.self).sin_port))
            }
        }
    }

    @Test("A connection to a broker's former address reaches its current one, also after a second move and back")
    func moves() throws {
        let (a, b, c) = try ports()
        let directory = BrokerDirectory()
        #expect(end(a, directory) == a)
        directory.note([broker(1, a)])
        #expect(directory.takeMoved() == [])
        directory.note([broker(1, b)])
        #expect(directory.takeMoved() == [broker(1, b)])
        #expect([a, b].map { end($0, directory) } == [b, b])
        directory.note([broker(1, b)])
        #expect(directory.takeMoved() == [])
        directory.note([broker(1, c)])
        #expect([a, b, c].map { end($0, directory) } == [c, c, c])
        directory.note([broker(1, a)])
        #expect([a, b, c].map { end($0, directory) } == [a, a, a])
    }

    @Test("The address of an existing broker is never redirected; a broker that is not named keeps its address")
    func exchange() throws {
        let (a, b, c) = try ports()
        let directory = BrokerDirectory()
        directory.note([broker(1, a), broker(2, b), broker(3, c)])
        directory.note([broker(1, b), broker(2, a)])
        #expect([a, b, c].map { end($0, directory) } == [a, b, c])
    }

    @Test("Clients share what they learn only with clients of the same bootstrap addresses")
    func sharing() {
        func directory(_ servers: String) -> BrokerDirectory? {
            BrokerDirectory.of([("bootstrap.servers", servers), ("client.id", "x")])
        }
        #expect(directory("a:1") != nil && directory("a:1") === directory("a:1"))
        #expect(directory("a:1") !== directory("a:1,b:1"))
        #expect(BrokerDirectory.of([("client.id", "x")]) == nil)
    }
}
