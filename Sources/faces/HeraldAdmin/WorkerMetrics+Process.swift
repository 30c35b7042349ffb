import HeraldTelemetry
import HeraldTime

struct ProcessFacts: Sendable {
    let facts: AdminServer.Facts
    /// When the client certificate for the brokers ends; `nil` without one.
    let certificate: ClientCertificate.Facts?
    /// `nil` without /proc.
    let usage: ProcessUsage?
}

extension WorkerMetrics {
    // MARK: Process

    // The names of process_* are those that Prometheus' own client libraries use.
    static let process: [Metric] = [
        Metric("herald_build", .info, labels: ["version", "librdkafka"], "Which Herald runs, on which librdkafka.") {
            source, writer in
            writer.sample([source.process.facts.version, source.process.facts.kafkaVersion], 1)
        },
        one(
            "herald_log_lines_dropped", .counter,
            "Log lines dropped because they were written faster than they were read."
        ) { $0.process.facts.droppedLogLines() },
        Metric(
            "herald_trace_spans", .counter, labels: ["outcome"],
            "Spans that the collector of traces.url took (exported), and that it never got (dropped)."
        ) { source, writer in
            let counts = source.process.facts.spans()
            writer.sample(["exported"], counts.exported)
            writer.sample(["dropped"], counts.dropped)
        },
        Metric(
            "herald_certificate_expiry_time_seconds", .gauge, unit: .seconds,
            "When the client certificate for the brokers ends that is in use since the start, since the Unix epoch."
        ) { source, writer in
            guard let certificate = source.process.certificate else { return }
            writer.sample([], Double(certificate.inUseUntil.milliseconds) / 1_000)
        },
        usage("process_cpu_seconds", .counter, unit: .seconds, "Processor time.", \.processorSeconds),
        usage("process_resident_memory_bytes", .gauge, unit: .bytes, "Memory in use.") { Double($0.residentBytes) },
        usage("process_virtual_memory_bytes", .gauge, unit: .bytes, "Address space.") { Double($0.virtualBytes) },
        usage("process_start_time_seconds", .gauge, unit: .seconds, "When it was started, since the Unix epoch.") {
            $0.startSeconds
        },
        usage("process_threads", .gauge, "Threads.") { Double($0.threads) },
        usage("process_open_fds", .gauge, "Open file descriptors.") { Double($0.openDescriptors) },
        usage("process_max_fds", .gauge, "How many file descriptors may be open.") { Double($0.maximumDescriptors) },
    ]

    private static func usage(
        _ name: String, _ kind: MetricDeclaration.Kind, unit: MetricDeclaration.Unit? = nil, _ help: String,
        _ value: @escaping @Sendable (ProcessUsage) -> Double
    ) -> Metric {
        Metric(name, kind, unit: unit, help) { source, writer in
            if let usage = source.process.usage { writer.sample([], value(usage)) }
        }
    }
}
