import HeraldCommandLine
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldSettings
import HeraldText
import HeraldThreads

enum BackendCommand: HeraldCommand {
    private static let host = CommandOption.standard(
        "host", .text("ADDRESS"), default: "127.0.0.1", "The address to listen on.")
    private static let port = CommandOption.standard(
        "port", .wholeNumber(0...65_535, "PORT"), default: "8080", "The port to listen on; 0 takes a free one.")
    private static let threads = CommandOption.standard(
        "threads", .wholeNumber(1...64), default: "1", "How many threads serve.")
    private static let callLog = CommandOption.optional(
        "call-log", .file(), "Append every notification call to this file, as a line of JSON.")
    private static let connectionString = CommandOption.optional(
        "hub-connection-string-file", .file(),
        "Register devices and send over the notification hub whose connection string is in this file.")
    private static let hub = CommandOption.optional("hub", .text("NAME"), "The hub's name.")
    private static let hubAuthority = CommandOption.optional(
        "hub-ca-file", .file(), "Authorities that the hub is trusted by (PEM), instead of the system's.")
    private static let hubGoogle = CommandOption.standard(
        "hub-gcm", .choice(GoogleForm.self), default: "fcmv1",
        "How the hub reaches devices of gcm; Google has shut its legacy interface down.")
    private static let misbehave = CommandOption.repeated(
        "misbehave", .misbehaviour, "A rule that makes it fail, such as user=flaky-*,status=503,callsPerKey=2.")

    static let declaration = CommandDeclaration(
        "backend", "Run the reference backend, for demonstrations and tests.",
        details:
            "It speaks the HTTP/1.1 of the backend that Herald was made for, and keeps everything in memory. The password of "
            + "every user is the user's name. With "
            + "--hub-connection-string-file and --hub devices are registered with that notification hub (Listen and "
            + "Send are enough) and notifications sent over it, as the tutorial's backend does: to the user's devices and those with the sender's tag from:SENDER. What the "
            + "hub refuses is answered 500, and that it wants patience 429 or 503; a toast is sent once, and not "
            + "twice.\n\nPUT /sandbox/misbehaviour changes the rules while it "
            + "runs, GET /sandbox/calls shows what it saw.\n\n"
            + "A rule of --misbehave is name=value, comma-separated. Which calls it concerns: user and pns, with * for "
            + "anything; path (/api/notifications); calls=N, the first N; callsPerKey=N, the first N of each idempotency "
            + "key; share=0.1, that share of them, chosen by seed=N; perSecond=N, those beyond N in a second. What "
            + "happens: status=N, perhaps with retryAfter (seconds, a date, or date+30); hold, the answer "
            + "waits until the rules change; hang, no answer; hangUp, the "
            + "connection is closed; latency=50 or 50-200, so many milliseconds. With "
            + "carriedOut the devices get the notification all the same. Rules are tried in their order; one with only a latency lets the next go on.",
        options: [host, port, threads, callLog, connectionString, hub, hubAuthority, hubGoogle, misbehave],
        examples: [
            .init("herald backend", "Listen on http://127.0.0.1:8080."),
            .init("herald backend --misbehave pns=wns,status=503,retryAfter=2", "One push service fails."),
            .init(
                "herald backend --misbehave latency=20-80 --misbehave user=flaky-*,status=503,callsPerKey=2",
                "Everybody waits, and some fail twice."),
            .init(
                "herald backend --hub-connection-string-file hub.txt --hub my-hub",
                "Devices and notifications are the hub's."),
        ])
    static let usedSettings: UsedSettings = .none
    static let isService = true

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        var configuration = ReferenceBackend.Configuration()
        configuration.server.host = invocation.parsed[host]
        configuration.server.port = UInt16(clamping: invocation.parsed[port])
        configuration.server.threads = invocation.parsed[threads]
        configuration.callLogPath = invocation.parsed[callLog]
        configuration.misbehaviour = invocation.parsed[misbehave]
        configuration.hub = try hub(invocation.parsed)
        try StopSignals.catchAll()
        let backend = try ReferenceBackend(configuration)
        invocation.console.complain(ReferenceBackend.notice)
        try invocation.console.print(backend.url)
        _ = StopSignals.wait()
        backend.stop()
        return .done
    }

    private static func hub(_ parsed: ParsedCommand) throws -> HubBackend.Configuration? {
        guard let path = parsed[connectionString], let name = parsed[hub] else {
            guard parsed[connectionString] == nil, parsed[hub] == nil, parsed[hubAuthority] == nil else {
                throw parsed.mistake(
                    "--hub-connection-string-file and --hub go together, and --hub-ca-file only with both")
            }
            return nil
        }
        do throws(InvalidArgument) {
            try HubClient.check(hub: name)
        } catch {
            throw parsed.mistake("--hub: \(error)")
        }
        let text = try SecretSource.file(path).current().reveal()
        do throws(InvalidArgument) {
            let client = HubClient(
                try HubConnectionString(text), hub: name, tls: TLSFiles(caFile: parsed[hubAuthority]))
            return HubBackend.Configuration(client, google: parsed[hubGoogle])
        } catch {
            throw CommandFailure("\(path): \(error)")
        }
    }
}
