import Foundation
import HeraldSettings
import HeraldText
import Testing

@Suite("The destination of spans")
struct TraceSettingsTests {
    @Test("By default spans go nowhere, and every event with its own trace would be recorded")
    func defaults() throws {
        let settings = try load().settings
        #expect(settings.traces.url == nil && settings.traces.sampleRatio == 1)
        #expect(settings.traces.serviceName == "herald" && settings.traces.headersFile == nil)
    }

    @Test(
        "A wrong value is refused",
        arguments: [
            ("{url: collector:4318}", "traces.url: \"collector:4318\" has no http:// or https://"),
            ("{url: 'http://u:p@collector'}", "holds a user"),
            ("{sampleRatio: 1.1}", "traces.sampleRatio: \"1.1\" is out of range"),
            ("{sampleRatio: '-0.1'}", "is not a share"),
            ("{sampleRatio: many}", "is not a share; allowed: a share between 0 and 1, such as 0.01"),
            ("{serviceName: ''}", "traces.serviceName"),
        ])
    func refused(traces: String, message: String) {
        let found = mistakes("traces: \(traces)")
        #expect(found.count == 1 && found[0].contains(message), "\(found)")
    }

    /// The settings that a worker needs besides.
    private static let worker = "kafka: {bootstrapServers: [b]}\nbackend: {url: 'http://b', auth: {kind: none}}\n"

    @Test(
        "Files for a worker's spans must be readable; other commands ignore them",
        arguments: [("headersFile", "/nonexistent/h"), ("caFile", "/nonexistent/ca")])
    func files(name: String, path: String) {
        let yaml = Self.worker + "traces: {url: 'https://c', \(name): \(path)}"
        let found = mistakes(yaml, requiring: [.kafka, .backend])
        #expect(found.count == 1 && found[0].contains("traces.\(name): \"\(path)\" cannot be read"), "\(found)")
        #expect(mistakes(yaml, requiring: .kafka) == [])
        #expect(
            mistakes(Self.worker + "traces: {\(name): \(path)}", requiring: [.kafka, .backend]) == [],
            "without a collector")
    }

    @Test("Small and whole ratios are shares", arguments: [("0", 0), ("1", 1), ("0.0001", 0.0001)])
    func ratios(text: String, ratio: Double) throws {
        #expect(try load("traces: {sampleRatio: \(text)}").settings.traces.sampleRatio == ratio)
    }

    @Test("Headers are read from lines with any line ends; no value is shown")
    func headers() throws {
        let headers = try withFile("X-Key:  secret value \r\n\nAuthorization: Bearer abc\n") { try HeaderFile.read($0) }
        #expect(headers.map(\.name) == ["X-Key", "Authorization"])
        #expect(headers.map { $0.value.reveal() } == ["secret value", "Bearer abc"])
        #expect(!"\(headers)".contains("secret"))
    }

    @Test(
        "A line that is no header is refused by its number, without its text",
        arguments: ["canary", ": canary", "X-Key:", "X Key: canary", "X-Key: canär", "X-Key: a\u{1}b"])
    func badHeaders(line: String) throws {
        try withFile("A: b\n\(line)\n") { path in
            let error = #expect(throws: InputError.self) { try HeaderFile.read(path) }
            #expect(error?.line == 2 && error?.description.contains("canary") == false)
            let found = mistakes(
                Self.worker + "traces: {url: 'https://c', headersFile: \(path)}", requiring: [.kafka, .backend])
            #expect(found.count == 1 && found[0].contains("line 2: is no header"), "\(found)")
        }
    }

    @Test("Headers that would leave this machine unencrypted draw a warning")
    func unencrypted() throws {
        try withFile("X-Key: k\n") { path in
            for (url, count) in [("http://collector:4318", 1), ("https://collector", 0), ("http://127.0.0.1:4318", 0)] {
                let warnings = try load("traces: {url: '\(url)', headersFile: \(path)}").warnings
                #expect(warnings.count == count)
            }
        }
    }

    private func withFile<Result>(_ text: String, _ body: (String) throws -> Result) throws -> Result {
        let file = FileManager.default.temporaryDirectory.appending(path: "headers-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try body(file.path)
    }
}
