import HeraldCommandLine
import HeraldHTTP
import HeraldSandbox
import HeraldSettings
import HeraldText
import HeraldThreads
import HeraldTime

enum HubCommand: HeraldCommand {
    private static let listen = CommandOption.standard(
        "listen", address, default: "127.0.0.1:8443", "The address to listen on; port 0 takes a free one.")
    private static let hub = CommandOption.standard("hub", .text("NAME"), default: "herald", "The hub's name.")
    private static let tier = CommandOption.standard(
        "tier", .choice(HubTier.self), default: "standard",
        "Telemetry, feedback and scheduled sends need standard, batches basic.")
    private static let authorityFile = CommandOption.optional(
        "authority-file", .file(), "Write the authority (PEM) that clients have to trust here.")
    private static let connectionStringFile = CommandOption.optional(
        "connection-string-file", .file(), "Write the connection string with all rights here, for its owner alone.")
    private static let sendsPerMinute = CommandOption.standard(
        "sends-per-minute", sendLimit, default: "unlimited",
        "How many sends it takes in a minute: a number, unlimited, or tier (100, 900, 11500).")
    private static let throttle = CommandOption.standard(
        "throttle", .choice(Throttle.self), default: "429", "The status beyond that, with Retry-After.")
    private static let processing = CommandOption.standard(
        "processing", .duration(), default: "0", "How long a message's state is not final.")
    private static let unknown = CommandOption.standard(
        "unknown", .duration(), default: "0", "How long telemetry answers 404 after a send.")
    private static let threads = CommandOption.standard(
        "threads", .wholeNumber(1...64), default: "1", "How many threads serve.")
    private static let callLog = CommandOption.optional(
        "call-log", .file(), "Append every send to this file, as a line of JSON.")
    private static let misbehave = CommandOption.repeated(
        "misbehave", .misbehaviour, "A rule that makes it fail, such as pns=apple,status=503,calls=20.")
    private static let outcome = CommandOption.repeated(
        "outcome", .outcome, "What push services say to some devices, such as outcome=BadChannel,handle=dead-*.")

    private enum Throttle: String, CaseIterable {
        case tooManyRequests = "429"
        case forbidden = "403"
    }

    private static let address = ValueType("HOST:PORT", allowed: "an IP address and a port, such as 127.0.0.1:8443") {
        text in
        if case .address(let host, let port)? = ListenAddress(text) { (host: host, port: port) } else { nil }
    }

    private static let sendLimit = ValueType("N", allowed: "a number from 1, unlimited, or tier") {
        text -> (@Sendable (HubTier) -> Int?)? in
        switch text {
        case "unlimited": return { _ in nil }
        case "tier": return { $0.sendsPerMinute }
        default:
            guard let number = Int(text), number > 0 else { return nil }
            return { _ in number }
        }
    }

    static let declaration = CommandDeclaration(
        "hub", "Run an emulated Azure notification hub, for demonstrations and tests.",
        details:
            "It speaks the REST interface of Azure Notification Hubs over TLS and keeps everything in memory: sends, "
            + "direct, batch, test and scheduled sends, registrations, installations, telemetry, feedback. The rules of "
            + "access and the certificate are made anew at each start. docs/HUB-EMULATOR.md has its differences from the "
            + "service.\n\n"
            + "A rule of --misbehave is that of the reference backend (herald help backend): the path is the one below "
            + "the hub (/messages), user that of the tag username:USER, pns the format (apple, fcmv1, …); callsPerKey "
            + "counts equal sends. A rule of --outcome has an outcome of telemetry, and a handle with * for anything, a "
            + "platform (apns, fcmv1, …) and a share. PUT /sandbox/misbehaviour changes the former while it runs, GET "
            + "/sandbox/calls shows the sends, GET /sandbox/inbox/HANDLE what a device got.",
        options: [
            listen, hub, tier, authorityFile, connectionStringFile, sendsPerMinute, throttle, processing, unknown,
            threads, callLog, misbehave, outcome, OutputFormat.option,
        ],
        examples: [
            .init(
                "herald hub --authority-file hub.pem --connection-string-file hub.secret",
                "Listen on https://127.0.0.1:8443 for clients that trust hub.pem."),
            .init("herald hub --tier free --sends-per-minute tier --throttle 403", "A hub at its limit."),
            .init("herald hub --outcome outcome=ExpiredChannel,share=0.05", "One of twenty devices is gone."),
        ])
    static let usedSettings: UsedSettings = .none
    static let isService = true

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let configuration = configuration(of: invocation)
        try StopSignals.catchAll()
        let emulator = try HubEmulator(configuration)
        defer { emulator.stop() }
        if let path = invocation.parsed[connectionStringFile] {
            let file = try OutputFile(path)
            try file.stream.write(emulator.connectionString + "\n")
            try file.finish()
        }
        try announce(emulator, invocation)
        _ = StopSignals.wait()
        return .done
    }

    private static func configuration(of invocation: Invocation) -> HubEmulator.Configuration {
        let parsed = invocation.parsed
        var configuration = HubEmulator.Configuration()
        (configuration.server.host, configuration.server.port) = parsed[listen]
        configuration.server.threads = parsed[threads]
        configuration.hub = parsed[hub]
        configuration.tier = parsed[tier]
        configuration.authorityPath = parsed[authorityFile]
        configuration.callLogPath = parsed[callLog]
        configuration.sendsPerMinute = parsed[sendsPerMinute](parsed[tier])
        configuration.throttleStatus = parsed[throttle] == .forbidden ? 403 : 429
        configuration.processingTime = Milliseconds(parsed[processing])
        configuration.unknownTime = Milliseconds(parsed[unknown])
        configuration.misbehaviour = parsed[misbehave]
        configuration.outcomes = parsed[outcome]
        return configuration
    }

    private static func announce(_ emulator: HubEmulator, _ invocation: Invocation) throws {
        let console = invocation.console
        console.remark(HubEmulator.notice)
        console.remark(
            "Clients trust \(emulator.caFile) alone. A worker sends to it with backend.kind azure-hub, backend.hub.name "
                + "\(emulator.hub), backend.hub.connectionStringFile (a file with the connection string) and "
                + "backend.tls.caFile \(emulator.caFile).")
        try invocation.format.writeLine(
            [
                .init("url", .string(emulator.url)), .init("hub", .string(emulator.hub)),
                .init("authorityFile", .string(emulator.caFile)),
                .init("connectionString", .string(emulator.connectionString)),
                .init("listenConnectionString", .string(emulator.listenConnectionString)),
            ], lines: ["ready \(emulator.url)/\(emulator.hub) \(emulator.connectionString)"], to: console)
    }
}
