import Foundation
import HeraldKafka
import HeraldTime
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// A service's own test against Herald, in Swift Testing. HERALD names the program, if it is not built beside the tests.
// Any client publishes; this one is Herald's own.

/// Herald with a broker and a backend, as long as its process has a standard input.
private final class Sandbox {
    struct Addresses: Decodable {
        struct Topics: Decodable { var requests: [String] }
        var bootstrapServers: String
        var backendURL: URL
        var topics: Topics
    }

    struct Call: Decodable {
        var status: Int
        var message: String
    }

    let addresses: Addresses
    private let process = Process()
    private let input = Pipe()

    init() throws {
        let named = ProcessInfo.processInfo.environment["HERALD"]
        let built = Bundle.main.bundleURL.appending(path: "herald")
        process.executableURL = named.map { URL(fileURLWithPath: $0) } ?? built
        process.arguments = ["sandbox", "-o", "json", "--retry-delays", "100ms,200ms"]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
            line += byte
        }
        addresses = try JSONDecoder().decode(Addresses.self, from: line)
    }

    /// It ends when its standard input does: also when this process is killed.
    func end() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    @discardableResult
    func ask(_ method: String, _ path: String, _ body: String? = nil) async throws -> Data {
        var request = URLRequest(url: addresses.backendURL.appending(path: path))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        // The backend's password of every user is the user's name.
        request.setValue("Basic dGVzdDp0ZXN0", forHTTPHeaderField: "Authorization")
        return try await URLSession.shared.data(for: request).0
    }

    func calls() async throws -> [Call] {
        try await ask("GET", "sandbox/calls").split(separator: UInt8(ascii: "\n"))
            .map { try JSONDecoder().decode(Call.self, from: $0) }
    }

    func waitForCalls(_ count: Int) async throws -> [Call] {
        let end = ContinuousClock.now + .seconds(60)
        while try await calls().count < count, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(50))
        }
        return try await calls()
    }
}

@Suite("Notifications")
struct NotificationsTests {
    @Test("A shipped order is told, also when the backend fails once")
    func shippedOrder() async throws {
        let herald = try Sandbox()
        try await herald.ask("PUT", "sandbox/misbehaviour", #"[{"user": "ann", "status": 503, "calls": 1}]"#)
        // In place of this: what your service does when an order is shipped.
        let producer = try Producer(properties: [("bootstrap.servers", herald.addresses.bootstrapServers)])
        let topic = try producer.topic(try #require(herald.addresses.topics.requests.first))
        let key = Array("ann".utf8)
        let event = Array(#"{"id": "order-17", "user": "ann", "pns": ["apns"], "message": "It is here"}"#.utf8)
        let refusal = producer.produce(topic: topic, key: key.span.bytes, value: event.span.bytes, token: 0)
        #expect(refusal == nil)
        try producer.flush(timeout: .seconds(10)) { _, error in #expect(error == nil) }
        producer.close()

        let calls = try await herald.waitForCalls(2)
        #expect(calls.map(\.status) == [503, 200])
        #expect(calls.last?.message == "It is here")
        try herald.end()
    }
}
