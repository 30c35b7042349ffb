import HeraldCommandLine
import HeraldHTTP
import HeraldSandbox
import HeraldThreads

/// `herald backend`: the reference backend on its own.
enum BackendCommand: HeraldCommand {
    private static let host = CommandOption.standard(
        "host", .text("ADDRESS"), default: "127.0.0.1", "The address to listen on.")
    private static let port = CommandOption.standard(
        "port", .wholeNumber(0...65_535, "PORT"), default: "8080", "The port to listen on; 0 takes a free one.")
    private static let threads = CommandOption.standard(
        "threads", .wholeNumber(1...64), default: "1", "How many threads serve.")
    private static let callLog = CommandOption.optional(
        "call-log", .file(), "Append every notification call to this file, as a line of JSON.")
    private static let misbehave = CommandOption.repeated(
        "misbehave", rule, "A rule by which it misbehaves, such as user=flaky-*,status=503,callsPerKey=2.")
    private static let rule = ValueType("RULE", allowed: Misbehaviour.textForm) { try? Misbehaviour(parsing: $0) }

    static let declaration = CommandDeclaration(
        "backend", "Run the reference backend, for demonstrations and tests.",
        details: "It speaks the HTTP of the backend that Herald was made for and keeps everything in memory. "
            + "The password of every user is the user's name. PUT /sandbox/misbehaviour changes the rules while it "
            + "runs, GET /sandbox/calls shows what it saw.",
        options: [
            host.declaration, port.declaration, threads.declaration, callLog.declaration, misbehave.declaration,
        ],
        examples: [
            .init("herald backend", "Listen on http://127.0.0.1:8080."),
            .init("herald backend --misbehave pns=wns,status=503,retryAfter=2", "One push service fails."),
        ])
    static let takesSettings = false

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        var configuration = ReferenceBackend.Configuration()
        configuration.server.host = invocation.parsed[host]
        configuration.server.port = UInt16(clamping: invocation.parsed[port])
        configuration.server.threads = invocation.parsed[threads]
        configuration.callLogPath = invocation.parsed[callLog]
        configuration.misbehaviour = invocation.parsed[misbehave]
        try StopSignals.catchAll()
        let backend = try ReferenceBackend(configuration)
        invocation.console.complain(ReferenceBackend.notice)
        try invocation.console.print(backend.url)
        _ = StopSignals.wait()
        backend.stop()
        return .done
    }
}
