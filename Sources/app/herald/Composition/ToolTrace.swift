import HeraldBytes
import HeraldCommandLine
import HeraldSettings
import HeraldTelemetry
import HeraldTime
import HeraldTraces

/// The span of a command that publishes events, to which the spans of these events link.
struct ToolTrace {
    /// For so long the collector may keep a command that is done.
    private static let patience = Duration.seconds(5)

    let context: TraceContext
    private let settings: Settings
    private let began = SystemClock.wall()

    init?(_ settings: Settings) {
        guard settings.traces.url != nil else { return nil }
        self.settings = settings
        context = TraceContext(
            traceID: TraceID(high: .random(in: 1 ... .max), low: .random(in: 1 ... .max)),
            spanID: .random(in: 1 ... .max), isSampled: true)
    }

    /// Sends the span, which ends now.
    func end(_ operation: String, to topic: String?, count: Int, _ attributes: [SpanAttribute], _ console: Console) {
        var facts = [
            SpanAttribute("messaging.system", "kafka"), SpanAttribute("messaging.operation.name", operation),
            SpanAttribute("messaging.operation.type", "send"),
            SpanAttribute("messaging.batch.message_count", Int64(count)),
        ]
        if let topic { facts.append(SpanAttribute("messaging.destination.name", topic)) }
        let span = TraceSpan(
            context, parent: nil, name: topic.map { "\(operation) \($0)" } ?? operation, kind: .producer,
            startNanoseconds: began.milliseconds * 1_000_000,
            endNanoseconds: SystemClock.wall().milliseconds * 1_000_000, attributes: facts + attributes)
        guard let exporter = try? settings.traceExporter(logger: .silent) else { return }
        exporter.queue.add([span])
        exporter.close(within: Self.patience)
        if exporter.queue.counts.exported == 0 {
            console.remark("The collector of traces.url did not take this command's span.")
        }
    }
}
