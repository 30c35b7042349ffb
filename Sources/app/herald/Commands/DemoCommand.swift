import Glibc
import HeraldCommandLine
import HeraldDemo
import HeraldSandbox
import HeraldSettings
import HeraldTelemetry
import HeraldThreads
import HeraldWorker

enum DemoCommand: HeraldCommand {
    private static let once = CommandOption.flag(
        "once",
        "Publish each kind of event once, check the outcomes, and exit with 0 or 1, or with 3 when it is ended before; always "
            + "so without a terminal.")
    private static let hub = CommandOption.flag(
        "hub", "Send over an emulated Azure notification hub in place of the reference backend.")
    private static let verbose = CommandOption.flag(
        "verbose", short: "v", "Show what the worker logs; without it only its errors.")

    static let declaration = CommandDeclaration(
        "demo", "Show every outcome on an embedded broker and a reference backend.",
        details:
            "It starts an embedded broker, a reference backend that misbehaves towards some users, and an ordinary "
            + "worker; registers a few devices; publishes events; and shows what becomes of each. On a terminal it goes "
            + "on for about 40 seconds or until Ctrl-C. The embedded broker keeps nothing.",
        options: [once, hub, verbose, OutputFormat.option],
        examples: [
            .init("herald demo", "Watch it."),
            .init("herald demo --once", "Check it, in less than 30 seconds."),
            .init("herald demo --hub", "Watch the same over a notification hub."),
        ])
    static let usedSettings: UsedSettings = .none
    static let isService = true

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try StopSignals.catchAll()
        let console = invocation.console
        let context = try DemoContext(isHub: invocation.parsed[hub])
        for notice in context.notices { console.remark(notice) }
        let settings = try Settings.load(
            SettingsSources(file: .bytes(Array(context.settings.utf8), name: "the demo's settings")),
            requiring: [.kafka, .backend]
        ).settings
        let log = try LogPipe()
        let writer = try LogWriter(descriptor: log.writingEnd, format: .text(coloured: false))
        let worker = Worker(
            configuration: try settings.workerConfiguration(descriptors: FileDescriptorLimit.raise()),
            logger: Logger(writer, level: invocation.parsed[verbose] ? .info : .error))

        let isWatched = console.output.isTerminal && console.error.isTerminal && !console.isQuiet
        let run = try DemoRun(
            context, log: log, console: console, format: invocation.format,
            isLive: isWatched && !invocation.parsed[once])
        let signals = try OwnThread(name: "signals") { [stop = run.stopping] in
            _ = StopSignals.wait()
            stop()
            _ = StopSignals.wait()
            if isWatched { try? console.error.write(DemoRun.restoringTerminal) }
            _exit(ExitStatus.failed.rawValue)
        }
        defer {
            writer.close(within: .seconds(1))
            context.stop()
        }
        let end = try run.run(worker)
        // The thread waits for signals until the process ends.
        withExtendedLifetime(signals) {}
        return switch end {
        case .good: .done
        case .interrupted: .partlyDone
        case .bad: .failed
        }
    }
}
