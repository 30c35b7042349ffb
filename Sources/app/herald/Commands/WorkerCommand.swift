import Glibc
import HeraldAdmin
import HeraldCommandLine
import HeraldSettings
import HeraldTelemetry
import HeraldThreads
import HeraldTraces
import HeraldWorker

enum WorkerCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "worker", "Deliver: consume events, call the backend, record every outcome.",
        details:
            "On SIGTERM or SIGINT it finishes calls in flight within delivery.drainTimeout, leaves the group and "
            + "exits with 0; on a second signal it exits at once with 1 and commits nothing more. On SIGHUP it reads its "
            + "settings again, takes those over that are live, and logs what has changed and what needs a restart.",
        examples: [.init("herald worker --config herald.yaml", "Run with a settings file.")])
    static let usedSettings: UsedSettings = .worker
    static let isService = true

    /// The time that the last spans may delay the end of a drained worker.
    private static let traceFlush = Duration.seconds(2)

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        // A stop requested during the start is kept until there is a worker to stop.
        let hangUp = HangUp()
        try StopSignals.catchAll(and: [SIGHUP])
        let settings = try invocation.settings(requiring: [.kafka, .backend])
        MemoryArenas.limit(to: settings.delivery.lanes + 1)
        // None of its timers needs more than a millisecond's precision.
        TimerSlack.set(nanoseconds: 1_000_000)
        let descriptors = FileDescriptorLimit.raise()
        var configuration = try settings.workerConfiguration(descriptors: descriptors)
        let writer = try settings.logWriter()
        let logger = Logger(writer, level: settings.log.level)
        let exporter = try settings.traceExporter(logger: logger)
        configuration.tracing = try exporter.flatMap { try settings.tracing(into: $0.queue) }
        let worker = Worker(configuration: configuration, logger: logger)

        let certificate = try settings.clientCertificate(logger: logger)
        let admin = try settings.adminServer(
            of: worker, certificate: certificate, writer: writer, spans: exporter?.queue)
        // Who looks for it reads the same file, not this command.
        if let admin, settings.hasFreeAdminPort || invocation.parsed.options["admin-listen"] != nil {
            worker.announce(adminPort: admin.port)
        }
        if let admin { logger.info("serving health and metrics", ["address": .string(admin.address)]) }

        let manager: ServiceManager?
        do {
            manager = try ServiceManager(environment: invocation.environment, worker: worker)
        } catch {
            manager = nil
            logger.warning("the service manager cannot be told anything: \(error)")
        }
        let reload = try SettingsReload(
            of: worker, running: settings, descriptors: descriptors, manager: manager, logger: logger
        ) { try invocation.readSettings(requiring: [.kafka, .backend]) }
        let signals = try listen(for: worker, reload, hangUp, logger, writer)
        logger.info("starting", ["group": .string(settings.kafka.group), "lanes": .int(settings.delivery.lanes)])
        settings.warnOfFewConnections(descriptors: descriptors, logger)
        let end = worker.run()
        withExtendedLifetime(signals) {}
        switch end {
        case .stopped: logger.info("stopped")
        case .failed(let sentence): logger.error("\(sentence)")
        }
        exporter?.close(within: traceFlush)
        manager?.stop()
        admin?.stop()
        certificate?.stop()
        _ = writer.close(within: .seconds(2))
        return end == .stopped ? .done : .failed
    }

    private static func listen(
        for worker: Worker, _ reload: SettingsReload, _ hangUp: HangUp, _ logger: Logger, _ writer: LogWriter
    ) throws -> OwnThread {
        try OwnThread(name: "signals") {
            var isStopping = false
            while true {
                if StopSignals.wait() == SIGHUP, !hangUp.isTerminals {
                    reload.readSoon()
                } else if !isStopping {
                    isStopping = true
                    worker.stop()
                } else {
                    logger.warning("second signal: stopping at once")
                    _ = writer.close(within: .milliseconds(200))
                    _exit(ExitStatus.failed.rawValue)
                }
            }
        }
    }
}
