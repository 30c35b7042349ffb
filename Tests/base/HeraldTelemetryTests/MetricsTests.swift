import HeraldTelemetry
import Testing

@Suite("The text of metrics")
struct MetricsTests {
    private static let requests = MetricDeclaration(
        "a_requests", .counter, labels: ["kind", "name"], "What \"came\"\nin\\.")
    private static let size = MetricDeclaration("a_size_bytes", .gauge, unit: .bytes, "How large.")
    private static let duration = MetricDeclaration(
        "a_duration_seconds", .histogram, unit: .seconds, labels: ["kind"], "How long.")
    private static let build = MetricDeclaration("a_build", .info, labels: ["version"], "Which.")

    private func text(_ format: MetricsFormat) -> String {
        var writer = MetricsWriter(format)
        writer.begin(Self.requests)
        writer.sample(["x", "q\"b\\n\n"], 3)
        writer.begin(Self.size)
        writer.sample([], 0.5)
        writer.begin(Self.duration)
        writer.histogram(["x"], bounds: [0.005, 10], counts: [1, 2, 4], sum: 61.25)
        writer.begin(Self.build)
        writer.sample(["1.0"], 1)
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    @Test("Prometheus' format names the samples, escapes where needed and omits infos")
    func prometheus() {
        #expect(
            text(.prometheusText) == """
                # HELP a_requests_total What "came"\\nin\\\\.
                # TYPE a_requests_total counter
                a_requests_total{kind="x",name="q\\"b\\\\n\\n"} 3
                # HELP a_size_bytes How large.
                # TYPE a_size_bytes gauge
                a_size_bytes 0.5
                # HELP a_duration_seconds How long.
                # TYPE a_duration_seconds histogram
                a_duration_seconds_bucket{kind="x",le="0.005"} 1
                a_duration_seconds_bucket{kind="x",le="10.0"} 3
                a_duration_seconds_bucket{kind="x",le="+Inf"} 7
                a_duration_seconds_sum{kind="x"} 61.25
                a_duration_seconds_count{kind="x"} 7
                # HELP a_build_info Which.
                # TYPE a_build_info gauge
                a_build_info{version="1.0"} 1

                """)
    }

    @Test("OpenMetrics names the families, has units and infos, and marks its end")
    func openMetrics() {
        #expect(
            text(.openMetrics) == """
                # HELP a_requests What \\"came\\"\\nin\\\\.
                # TYPE a_requests counter
                a_requests_total{kind="x",name="q\\"b\\\\n\\n"} 3
                # HELP a_size_bytes How large.
                # TYPE a_size_bytes gauge
                # UNIT a_size_bytes bytes
                a_size_bytes 0.5
                # HELP a_duration_seconds How long.
                # TYPE a_duration_seconds histogram
                # UNIT a_duration_seconds seconds
                a_duration_seconds_bucket{kind="x",le="0.005"} 1
                a_duration_seconds_bucket{kind="x",le="10.0"} 3
                a_duration_seconds_bucket{kind="x",le="+Inf"} 7
                a_duration_seconds_sum{kind="x"} 61.25
                a_duration_seconds_count{kind="x"} 7
                # HELP a_build Which.
                # TYPE a_build info
                a_build_info{version="1.0"} 1
                # EOF

                """)
    }

    @Test(
        "The header Accept chooses the format",
        arguments: [
            (nil, .prometheusText), ("", .prometheusText), ("*/*", .prometheusText), ("text/html", .prometheusText),
            ("application/openmetrics-text", .openMetrics),
            ("application/openmetrics-text; version=1.0.0; charset=utf-8", .openMetrics),
            ("Application/OpenMetrics-Text;VERSION=1.0.0", .openMetrics),
            ("application/openmetrics-text;version=0.0.1", .prometheusText),
            ("application/openmetrics-text;version=1.0.0;q=0.4,text/plain;version=0.0.4;q=0.5", .prometheusText),
            ("application/openmetrics-text;q=nan, text/plain;q=0.1", .prometheusText),
            ("application/openmetrics-text;q=0", .prometheusText),
            // Prometheus 2.42 and 3.
            (
                "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                    + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .openMetrics
            ),
            (
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
                    + "text/plain;version=0.0.4;q=0.2,*/*;q=0.1", .openMetrics
            ),
        ] as [(String?, MetricsFormat)])
    func negotiation(accept: String?, format: MetricsFormat) {
        #expect(MetricsFormat(accepting: accept) == format)
    }

    @Test("A process's resources are read from /proc")
    func process() throws {
        let usage = try #require(ProcessUsage.current())
        #expect(usage.residentBytes > 1 << 20 && usage.virtualBytes >= usage.residentBytes)
        #expect(usage.processorSeconds > 0 && usage.startSeconds > 1_600_000_000)
        #expect(usage.threads >= 1 && usage.openDescriptors >= 3 && usage.maximumDescriptors >= usage.openDescriptors)
    }
}
