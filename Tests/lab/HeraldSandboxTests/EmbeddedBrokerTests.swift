import HeraldSandbox
import TestSupport
import Testing

@Suite("The embedded broker", .disabled(if: ThreadSanitizer.isActive, "librdkafka crashes it"))
struct EmbeddedBrokerTests {
    @Test("listens on this machine and ends with its object")
    func listens() throws {
        var broker: EmbeddedBroker? = try EmbeddedBroker(topics: [.init("notifications", partitions: 3)])
        let address = try #require(broker?.bootstrapServers)
        let port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
        _ = try PlainHTTP(port: port)
        broker = nil
        #expect(throws: PlainHTTP.Failure.self) { try PlainHTTP(port: port) }
    }

    @Test("announces that it keeps nothing")
    func notice() {
        #expect(EmbeddedBroker.notice.contains("keeps nothing"))
    }
}
