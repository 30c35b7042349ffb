import Glibc
import HeraldAdmin
import HeraldCommandLine
import HeraldSettings
import HeraldTelemetry
import HeraldThreads
import HeraldTraces
import HeraldWorker

/// `herald worker`: delivers.
enum WorkerCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "worker", "Deliver: consume events, call the backend, record every outcome.",
        details:
            "On SIGTERM or SIGINT it finishes calls in flight within delivery.drainTimeout, leaves the group and "
            + "exits with 0; on a second signal it exits at once with 1 and commits nothing more.",
        examples: [.init("herald worker --config herald.yaml", "Run with a settings file.")])
    static let heeds: HeededSettings = .worker

    /// For so long the last spans may keep a worker that has drained.
    private static let traceFlush = Duration.seconds(2)

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let settings = try invocation.settings(requiring: [.kafka, .backend])
        MemoryArenas.limit(to: settings.delivery.lanes + 1)
        let descriptors = FileDescriptorLimit.raise()
        var configuration = try settings.workerConfiguration(descriptors: descriptors)
        let writer = try settings.logWriter(isColoured: false)
        let logger = Logger(writer, level: settings.logLevel)
        let exporter = try settings.traceExporter(logger: logger)
        configuration.tracing = exporter.flatMap { settings.tracing(into: $0.queue) }
        let worker = Worker(configuration: configuration, logger: logger)

        let admin = try settings.adminServer(of: worker, writer: writer, spans: exporter?.queue)
        if let admin { logger.info("serving health and metrics", ["address": .string(admin.address)]) }

        let manager: ServiceManager?
        do {
            manager = try ServiceManager(environment: invocation.environment, worker: worker)
        } catch {
            manager = nil
            logger.warning("the service manager cannot be told anything: \(error)")
        }
        try StopSignals.catchAll()
        let signals = try OwnThread(name: "signals") {
            _ = StopSignals.wait()
            worker.stop()
            _ = StopSignals.wait()
            logger.warning("second signal: stopping at once")
            _ = writer.close(within: .milliseconds(200))
            _exit(ExitStatus.failed.rawValue)
        }
        logger.info("starting", ["group": .string(settings.kafka.group), "lanes": .int(settings.delivery.lanes)])
        let connections = settings.connectionLimit(descriptors: descriptors)
        if connections < settings.wantedConnections {
            logger.warning(
                "fewer connections than calls in flight: raise the limit of open files (ulimit -n, LimitNOFILE)",
                ["connections": .int(connections), "descriptors": .int(descriptors)])
        }
        let end = worker.run()
        // The thread waits for signals as long as the process lives.
        withExtendedLifetime(signals) {}
        switch end {
        case .stopped: logger.info("stopped")
        case .failed(let sentence): logger.error("\(sentence)")
        }
        exporter?.close(within: traceFlush)
        manager?.stop()
        admin?.stop()
        _ = writer.close(within: .seconds(2))
        return end == .stopped ? .done : .failed
    }
}
