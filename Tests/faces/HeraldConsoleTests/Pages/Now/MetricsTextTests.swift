import Testing

@testable import HeraldConsole

@Suite("A worker's metrics, whoever wrote them")
struct MetricsTextTests {
    private func samples(_ text: String, prefix: String = "herald_") -> [MetricsText.Sample] {
        var samples: [MetricsText.Sample] = []
        MetricsText.read(Array(text.utf8), prefix: prefix) { samples.append($0) }
        return samples
    }

    @Test("Names, labels with escapes and numbers are read, and a time-stamp behind them is passed over")
    func wellFormed() {
        let text = """
            # HELP herald_calls_total Calls.
            # TYPE herald_calls_total counter
            herald_calls_total{pns="apns",result="a \\"b\\" \\\\ \\n c"} 12 1700000000000
            herald_inflight 3.5
            herald_limit_calls_per_second{pns="gcm"} +Inf
            other_metric 9
            """
        let found = samples(text)
        #expect(found.map(\.name) == ["herald_calls_total", "herald_inflight", "herald_limit_calls_per_second"])
        #expect(found[0].labels == ["pns": "apns", "result": "a \"b\" \\ \n c"] && found[0].value == 12)
        #expect(found[1].labels.isEmpty && found[1].value == 3.5)
        #expect(found[2].value == .infinity)
    }

    @Test(
        "What is no sample is passed over, and the rest is read",
        arguments: [
            "herald_x", "herald_x ", "herald_x{", "herald_x{a", "herald_x{a=", "herald_x{a=\"", "herald_x{a=\"b",
            "herald_x{a=\"b\\",
            "herald_x{a=\"b\" 1", "herald_x{=\"b\"} 1", "herald_x{a=\"b\"} NaN", "herald_x{a=\"b\"} one", "herald_x 1e",
            "herald_x{a=b} 1", "herald_{{{{{{{", "herald_x{,} 1", "herald_x\u{0} 1",
        ])
    func malformed(line: String) {
        #expect(samples("\(line)\nherald_good 1\n").map(\.name) == ["herald_good"])
    }

    @Test("Bytes that are no text, long lines, many labels and many samples are bounded")
    func bounded() {
        var bytes: [UInt8] = Array("herald_x{a=\"".utf8) + [0xFF, 0xFE, 0x80] + Array("\"} 1\n".utf8)
        bytes += Array("herald_long{a=\"\(String(repeating: "x", count: 5_000))\"} 1\n".utf8)
        let labels = (0..<20).map { "l\($0)=\"v\"" }.joined(separator: ",")
        bytes += Array("herald_labels{\(labels)} 1\n".utf8)
        var names: [String] = []
        MetricsText.read(bytes, prefix: "herald_") { names.append($0.name) }
        #expect(names == ["herald_x"])

        let many = Array(String(repeating: "herald_y 1\n", count: MetricsText.sampleLimit + 10).utf8)
        var count = 0
        MetricsText.read(many, prefix: "herald_") { _ in count += 1 }
        #expect(count == MetricsText.sampleLimit)
    }

    @Test("A worker's numbers are summed and bounded; what an older one does not have is absent")
    func numbers() throws {
        let text = """
            herald_notifications_total{pns="apns",outcome="delivered"} 10
            herald_notifications_total{pns="apns",outcome="invented"} 10
            herald_calls_total{pns="apns",result="throttled"} 3
            herald_outage{reason="breaker"} 1
            herald_outage{reason="tls"} 0
            herald_limit_calls_per_second{pns="apns"} +Inf
            herald_limit_calls_per_second{pns="gcm"} 40
            herald_oldest_event_age_seconds{topic="a"} 5
            herald_oldest_event_age_seconds{topic="b"} 7
            herald_inflight -3
            process_start_time_seconds 1700000000.5
            """
        let numbers = try #require(WorkerNumbers(Array(text.utf8)))
        #expect(numbers.notifications == [.init(service: "apns", end: "delivered"): 10])
        #expect(numbers.calls == [.init(service: "apns", end: "throttled"): 3])
        #expect(numbers.outages == ["breaker"] && numbers.rateLimits == ["gcm": 40])
        #expect(numbers.oldestSeconds == 7 && numbers.inFlight == 0 && numbers.startSeconds == 1_700_000_000.5)
        #expect(numbers.inFlightLimit == nil && numbers.deadLetters == nil && numbers.version == nil)
        #expect(WorkerNumbers(Array("<html>hello</html>".utf8)) == nil)
    }

    @Test("No more push services are counted than settings can name, and their names are made safe to show")
    func hostileServices() throws {
        let many = (0..<10_000).map { "herald_calls_total{pns=\"s\($0)\",result=\"r\($0)\"} 1\n" }.joined()
        let numbers = try #require(WorkerNumbers(Array(many.utf8)))
        #expect(numbers.calls.count <= WorkerNumbers.serviceLimit)
        let steering = try #require(
            WorkerNumbers(Array("herald_calls_total{pns=\"a\u{202E}b\",result=\"c\"} 1\n".utf8)))
        #expect(steering.calls.keys.map(\.service) == ["a\\u{202E}b"])
    }
}
