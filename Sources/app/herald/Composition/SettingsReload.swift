import HeraldAdmin
import HeraldSettings
import HeraldTelemetry
import HeraldThreads
import HeraldWorker

/// The settings of a worker that runs, which are read again on request.
///
/// It has a thread of its own, because a file may be slow to read, and a stop must not wait for it.
final class SettingsReload: Sendable {
    private let running: Guarded<Settings>
    private let descriptors: Int
    private let read: @Sendable () throws -> LoadedSettings
    private let worker: Worker
    private let manager: ServiceManager?
    private let logger: Logger
    private let request: Wakeup

    /// Waits for requests as long as the process lives.
    init(
        of worker: Worker, running settings: Settings, descriptors: Int, manager: ServiceManager?, logger: Logger,
        read: @escaping @Sendable () throws -> LoadedSettings
    ) throws {
        running = Guarded(settings)
        self.descriptors = descriptors
        self.read = read
        self.worker = worker
        self.manager = manager
        self.logger = logger
        request = try Wakeup()
        _ = try OwnThread(name: "settings") { [self] in
            while true {
                guard request.wait(for: .seconds(3_600)) else { continue }
                request.drain()
                if let manager { manager.reloading { readAgain() } } else { readAgain() }
            }
        }
    }

    func readSoon() { request.signal() }

    private func readAgain() {
        do {
            let loaded = try read()
            for warning in loaded.warnings { logger.warning("settings: \(warning)") }
            running.withLock { running in
                let changes = running.changes(to: loaded.settings)
                take(changes, over: running)
                running = changes.settings
            }
        } catch let error as SettingsError {
            for mistake in error.mistakes { logger.error("settings: \(mistake)") }
            logger.error(
                "settings read again and not taken: the worker goes on with those that it had; fix the mistakes and send "
                    + "SIGHUP again", ["mistakes": .int(error.mistakes.count)])
        } catch {
            logger.error("settings could not be read again, the worker goes on with those that it had: \(error)")
        }
    }

    private func take(_ changes: SettingsChanges, over former: Settings) {
        let settings = changes.settings
        if !changes.changed.isEmpty { worker.use(settings.laneSettings(descriptors: descriptors)) }
        // A reader of the line can rely on the new level.
        logger.use(settings.log.level)
        // The line is written at the more verbose of the two levels.
        let logger = logger.at(max(former.log.level, settings.log.level))
        let line = "settings read again: \(changes.description)"
        if changes.needRestart.isEmpty { logger.info(line) } else { logger.warning(line) }
        if settings.wantedConnections > former.wantedConnections {
            settings.warnOfFewConnections(descriptors: descriptors, logger)
        }
    }
}

extension Settings {
    /// Says so when calls in flight will wait for connections, because there are too few descriptors.
    func warnOfFewConnections(descriptors: Int, _ logger: Logger) {
        let connections = connectionLimit(descriptors: descriptors)
        guard connections < wantedConnections else { return }
        logger.warning(
            "fewer connections than calls in flight: raise the limit of open files (ulimit -n, LimitNOFILE)",
            ["connections": .int(connections), "descriptors": .int(descriptors)])
    }
}
