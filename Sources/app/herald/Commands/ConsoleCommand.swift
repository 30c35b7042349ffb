import Glibc
import HeraldCommandLine
import HeraldConsole
import HeraldSettings
import HeraldText
import HeraldThreads
import HeraldTools

enum ConsoleCommand: HeraldCommand {
    private static let listen = CommandOption.optional(
        "listen", .text("ADDRESS"), "Where to serve, in place of console.listen: 127.0.0.1:9465, [::1]:0.")
    private static let allowChanges = CommandOption.flag(
        "allow-changes",
        "Let operators replay, resolve, and start and stop campaigns; without it the page is read-only.")
    private static let link = CommandOption.flag(
        "link", "Print a link that signs in as operator also with console.tokenFile; on loopback alone.")

    static let declaration = CommandDeclaration(
        "console", "Serve a page that says how Herald is, what failed, and what became of each event.",
        details: "It has rights of its own on the cluster, and workers need none of them. On loopback, without "
            + "console.tokenFile, it prints a link that signs one browser in as operator; each use prints the next one. "
            + "Others sign in with a token of console.tokenFile. Jobs that the page begins run in this process: closing the tab changes nothing. On "
            + "SIGTERM or SIGINT it stops them so that the same job goes on from there. docs/CONSOLE.md has the rest.",
        options: [listen, allowChanges, link],
        examples: [
            .init("herald console", "Look."),
            .init("herald console --allow-changes", "Look, replay, and work on campaigns."),
            .init("herald console --listen 0.0.0.0:9465 --console-token-file tokens", "For a team."),
        ])
    static let usedSettings: UsedSettings = .console
    static let isService = true

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        let settings = try invocation.settings(
            requiring: [.kafka], replacing: parsed[listen].map { ["console-listen": [$0]] } ?? [:])
        let configuration = try settings.consoleConfiguration(
            allowsChanges: parsed[allowChanges], operatorName: Operator.name(environment: invocation.environment)
        ) { mistake in
            console.complain(
                mistake.map { "console.tokenFile: \($0); only who has a line without a mistake can sign in" }
                    ?? "console.tokenFile: every line counts again")
        }
        guard configuration.isOnLoopback || !parsed[link] else {
            throw parsed.mistake(
                "--link: console.listen (\(settings.console.listen)) is open to others; people sign in with their token"
            )
        }
        let context = try settings.consoleContext(
            environment: invocation.environment, configuration: invocation.configuration,
            temporaryDirectory: invocation.temporaryDirectory)
        // Threads come and go with clients that read a topic for one answer; each arena keeps their freed memory.
        MemoryArenas.limit(to: 2)
        try StopSignals.catchAll()
        let served: ConsoleProcess
        do {
            served = try ConsoleProcess(configuration, context) { link in
                console.complain("The link has been used. The next one: \(link)")
            }
        } catch let error as SystemError {
            throw CommandFailure("console.listen: \(error)", status: .badSettings)
        }
        if configuration.tokens == nil || parsed[link] {
            try console.print("Open \(served.newLink())")
        } else {
            try console.print("Serving on \(served.address); people sign in with their token of console.tokenFile.")
        }
        if !parsed[allowChanges] { console.remark("Nothing can be changed; --allow-changes lets operators do that.") }
        _ = StopSignals.wait()
        _ = try OwnThread(name: "signals") {
            _ = StopSignals.wait()
            _exit(ExitStatus.failed.rawValue)
        }
        served.stop()
        return .done
    }
}
