import Foundation
import HeraldBackend
import HeraldEvents
import HeraldHTTP
import HeraldTime
import Testing

@testable import HeraldWorker

/// A third kind of backend, complete: it writes each notification as a line of a file.
private final class FileTarget: Target {
    private let path: String
    let repeatsUnanswered = true

    init(path: String) { self.path = path }

    func showing(
        _ authorization: String?, of configuration: BackendConfiguration, session: UInt64
    ) -> FileTarget { self }

    func write(
        _ call: borrowing TargetCall, of event: borrowing DecodedEvent, value: RawSpan, scratch: inout [UInt8],
        begin: (_ write: (inout [UInt8]) -> Void) -> Void
    ) -> CallResult? {
        func text(_ bytes: RawSpan) -> String { bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
        let (user, message) = (event.bytes(of: event.user, value: value), event.bytes(of: event.message, value: value))
        let line = "\(String(decoding: call.pushService, as: UTF8.self)) \(text(user)): \(text(message))\n"
        guard let file = FileHandle(forWritingAtPath: path) else {
            return CallResult(failure: .refused, detail: "there is no such file")
        }
        file.seekToEndOfFile()
        file.write(Data(line.utf8))
        return CallResult(status: 200)
    }
}

@Suite("A kind of backend that is neither HTTP nor a hub")
struct ThirdTargetTests {
    @Test("needs no more than its own type: a lane delivers events to it")
    func delivers() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("herald-\(UUID()).txt").path
        let fixture = try fixture(writingTo: path)
        fixture.io.queues[0] = [ScriptedRecord(LaneFixture.topic, at: 0, user: "anna")]
        fixture.turn()
        let doings = fixture.turn(after: .milliseconds(10))
        #expect(doings.first?.hasPrefix("produce retry, key anna") == true, "\(doings)")
        #expect(fixture.lane.meter.lastFailure == .refused)

        try Data().write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        fixture.io.queues[0] = [ScriptedRecord(LaneFixture.topic, at: 1, user: "bob")]
        fixture.turn()
        #expect(fixture.turn(after: .milliseconds(10)).contains { $0.hasPrefix("produce result, key bob") })
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "apns bob: hello\n")
    }

    private func fixture(writingTo path: String) throws -> LaneFixture {
        let fixture = LaneFixture()
        fixture.io.backend = BackendCalls(
            loop: try EventLoop(), owner: 1,
            configuration: try BackendConfiguration(
                FileTarget(path: path), url: "http://localhost", credentials: .none))
        fixture.assign()
        return fixture
    }
}
