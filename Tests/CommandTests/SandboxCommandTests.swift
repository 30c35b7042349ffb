import Foundation
import TestSupport
import Testing

@Suite("herald sandbox, as a process", .disabled(if: ThreadSanitizer.isActive, "librdkafka crashes it"))
struct SandboxCommandTests {
    /// A sandbox whose standard input the test holds.
    private final class Running {
        let process = Process()
        private let output = Pipe()
        private let input = Pipe()

        init(_ words: String...) throws {
            process.executableURL = Bundle.main.bundleURL.appendingPathComponent("herald")
            process.arguments = ["sandbox"] + words
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            process.standardInput = input
            try process.run()
        }

        /// What the line of addresses says.
        func addresses() async throws -> [String: Any] {
            let end = output.fileHandleForReading
            let line = try await Blocking.run {
                var line = Data()
                while let byte = try end.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) { line += byte }
                return line
            }
            let object = try JSONSerialization.jsonObject(with: line) as? [String: Any]
            return try #require(object)
        }

        func closeInput() throws { try input.fileHandleForWriting.close() }

        func end() async throws -> Int32 {
            try await Blocking.run { [process] in process.waitUntilExit() }
            return process.terminationStatus
        }

        deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    }

    @Test("It names its addresses in one line, is ready, and ends with 0 when its standard input is closed")
    func inputCloses() async throws {
        let sandbox = try Running("-o", "json", "--retry-delays", "100ms", "--topics-results", "outcomes")
        let addresses = try await sandbox.addresses()
        #expect((addresses["bootstrapServers"] as? String)?.contains(":") == true, "\(addresses)")
        let topics = addresses["topics"] as? [String: Any]
        #expect(topics?["results"] as? String == "outcomes")
        #expect(topics?["retry"] as? [String] == ["notifications.retry.100ms"])
        for name in ["backendURL", "adminURL"] {
            let text = try #require(addresses[name] as? String)
            let port = try #require(URL(string: text)?.port)
            let answer = try PlainHTTP.request(port: UInt16(port), "GET", "/livez")
            #expect([200, 403].contains(answer.status), "\(name): \(answer.status)")
        }
        try sandbox.closeInput()
        #expect(try await sandbox.end() == 0)
    }

    @Test("A service's test in Python passes: docs/examples/sandbox")
    func python() async throws {
        let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/examples/sandbox/test_notifications.py").standardizedFileURL
        let log = FileManager.default.temporaryDirectory.appending(path: "herald-sandbox-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        let isThere: @Sendable (String) -> Bool = { python in
            guard let probe = try? ChildProcess([python, "-c", "import confluent_kafka"], output: log) else {
                return false
            }
            return probe.wait() == 0
        }
        guard let python = try await Blocking.run({ ["/usr/bin/python3", "python3"].first(where: isThere) }) else {
            return SkippedSuites.note(absent: "confluent-kafka for Python, for docs/examples/sandbox")
        }
        let program = Bundle.main.bundleURL.appendingPathComponent("herald").path
        let run = try ChildProcess(
            ["/usr/bin/env", "HERALD=\(program)", python, example.path], output: log)
        defer { run.kill() }
        let status = try await Blocking.run { run.wait() }
        #expect(status == 0, "\((try? String(contentsOf: log, encoding: .utf8)) ?? "")")
    }
}
