import Foundation
import TestSupport
import Testing

@Suite("herald demo, as a process", .realTime, .disabled(if: ThreadSanitizer.isActive, "librdkafka crashes it"))
struct DemoCommandTests {
    private func demo(_ words: String...) async throws -> (status: Int32, output: String) {
        let output = FileManager.default.temporaryDirectory.appendingPathComponent("herald-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: output) }
        let program = Bundle.main.bundleURL.appendingPathComponent("herald").path
        let process = try ChildProcess([program, "demo"] + words, output: output)
        defer { process.kill() }
        let status = try await Blocking.run { process.wait() }
        return (status, try String(contentsOf: output, encoding: .utf8))
    }

    @Test("--once shows every expected outcome, in plain text, and ends with 0")
    func once() async throws {
        let run = try await demo("--once")
        #expect(run.status == 0, "\(run.output)")
        for line in [
            "The embedded broker keeps nothing",
            "OUTCOME        REASON              PNS   STATUS  COUNT  EXPECTED\n",
            "delivered                          apns     200      4         4\n",
            "dead-lettered  malformed                             1         1\n",
            "dead-lettered  attempts-exhausted  gcm      503      1         1\n",
            "expired                            gcm               1         1\n",
            "suppressed     opted-out           gcm               1         1\n",
            "suppressed     quiet-expired       wns               1         1\n",
            "alice's device on apns received 1 notification:\n"
                + #"  {"aps":{"alert":{"title":"Order 17","body":"From herald: Your parcel is here"},"#
                + #""sound":"default","category":"SHIPPED","badge":1},"link":"shop://orders/17","#
                + #""image":"https://cdn.example/parcel.png","order":"17"}"# + "\n",
            "grace's device on wns received 1 notification:\n",
            "All 19 outcomes are what the stream must give",
        ] {
            #expect(run.output.contains(line), "\(run.output)")
        }
        #expect(!run.output.contains("\u{1B}"))
        #expect(!run.output.contains("librdkafka"))
    }

    @Test("--hub shows the same over an emulated notification hub, and leaves no file behind")
    func hub() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "herald-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try await HeraldProgram.run(["demo", "--hub", "--once"], environment: ["TMPDIR": folder.path])
        #expect(run.status == 0, "\(run.error)")
        for line in [
            "delivered                          apns     201      4         4\n",
            "dead-lettered  rejected            apns     400      1         1\n",
            "dead-lettered  attempts-exhausted  gcm      503      1         1\n",
            "alice's device on apns received 1 notification:\n"
                + #"  {"aps":{"alert":{"title":"Order 17","body":"Your parcel is here (no. 0)"},"#
                + #""badge":1,"sound":"default","category":"SHIPPED","mutable-content":1},"link":"shop://orders/17","#
                + #""image":"https://cdn.example/parcel.png","order":"17"}"# + "\n",
        ] {
            #expect(run.output.contains(line), "\(run.output)")
        }
        #expect(run.error.contains("This is an emulator of an Azure notification hub"))
        #expect(run.error.contains("All 19 outcomes are what the stream must give"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("Without a terminal it works like --once, and as JSON it writes only the outcomes")
    func json() async throws {
        let run = try await demo("--quiet", "-o", "jsonl")
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.split(separator: "\n").count == 11)
        #expect(
            run.output.contains(#"{"outcome":"delivered","pns":"apns","status":200,"count":4,"expected":4}"# + "\n"))
        #expect(run.output.contains(#"{"outcome":"dead-lettered","reason":"malformed","count":1,"expected":1}"# + "\n"))
    }

    @Test("Stopped before all outcomes are there, it drains, names the missing ones, and ends with 3")
    func stop() async throws {
        let output = FileManager.default.temporaryDirectory.appendingPathComponent("herald-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: output) }
        let program = Bundle.main.bundleURL.appendingPathComponent("herald").path
        let process = try ChildProcess([program, "demo", "--once"], output: output)
        defer { process.kill() }
        // Its first words come after the signals are caught. A separate thread sees them before the demo is over, even
        // if many tests share the others.
        let (hasBegun, status) = try await Blocking.run {
            func hasBegun() -> Bool {
                (try? String(contentsOf: output, encoding: .utf8))?.contains("keeps nothing") == true
            }
            let end = ContinuousClock.now + .seconds(Patience.seconds)
            while !hasBegun(), ContinuousClock.now < end { usleep(5_000) }
            defer { process.kill() }
            guard hasBegun() else { return (false, Int32(0)) }
            process.signal(SIGINT)
            return (true, process.wait())
        }
        #expect(hasBegun)
        #expect(status == 3)
        let text = try String(contentsOf: output, encoding: .utf8)
        #expect(
            text.contains("OUTCOME") && text.contains("Ended before every outcome was there") && !text.contains("All "),
            "\(text)")
    }
}
