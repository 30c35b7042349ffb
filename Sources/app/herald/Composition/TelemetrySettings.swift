import Glibc
import HeraldSettings
import HeraldTelemetry
import HeraldTools
import HeraldTraces
import HeraldWorker

extension Settings {
    func logWriter() throws -> LogWriter {
        try LogWriter(format: log.format == .json ? .json : .text(coloured: false))
    }

    /// Sends spans where the settings say; `nil` when tracing is off.
    func traceExporter(logger: Logger) throws -> TraceExporter? {
        guard let url = traces.url else { return nil }
        let path = traces.headersFile
        return try TraceExporter(
            TraceConfiguration(
                url: url.description, caFile: traces.caFile,
                headers: { try path.map { try HeaderFile.read($0) } ?? [] },
                resource: [
                    SpanAttribute("service.name", traces.serviceName),
                    SpanAttribute("service.version", Herald.version),
                    SpanAttribute("service.instance.id", kafka.instance ?? "\(UInt64.random(in: .min ... .max))"),
                    SpanAttribute("host.name", Operator.hostName()),
                ], version: Herald.version),
            logger: logger)
    }

    /// What the worker's lanes make spans with.
    func tracing(into queue: SpanQueue) throws -> Tracing? {
        guard let (address, path) = try target.notificationAddress() else { return nil }
        return Tracing(
            sampler: TraceSampler(ratio: traces.sampleRatio), queue: queue, group: kafka.group,
            url: address.description, host: address.host, port: address.port, path: path)
    }
}
