import HeraldBackend
import HeraldCommandLine
import HeraldEvents
import HeraldHTTP
import HeraldSettings
import HeraldText

/// `herald send`: sends straight to the backend, without Kafka.
enum SendCommand: HeraldCommand {
    private static let user = CommandOption.optional("user", .text("USER"), "Whom to notify.")
    private static let pushServices = CommandOption.optional("pns", .pushServices, "The push services to send to.")
    private static let message = CommandOption.optional("message", .text("TEXT"), "The message.")
    private static let id = CommandOption.optional(
        "id", .text("ID"), "The idempotency key without user and push service; a random one when it is left out.")
    private static let toSelf = CommandOption.flag(
        "self", "Ask the backend to notify the caller's own devices on every push service instead.")

    static let declaration = CommandDeclaration(
        "send", "Send a notification straight to the backend, without Kafka.",
        details:
            "It calls all push services at once and shows each status. The exit status is 0 if all accepted the "
            + "message, 3 if some did, 1 if none did, 5 if the backend could not be reached.",
        options: [user, pushServices, message, id, toSelf, OutputFormat.option],
        examples: [
            .init("herald send --user alice --pns apns,gcm --message 'Hi'", "Notify a user."),
            .init("herald send --self", "Notify your own devices."),
        ])
    static let usedSettings: UsedSettings = .backendClient + ["backend.path"] + .pushServices

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let settings = try invocation.settings(requiring: [.backend])
        let request = try request(invocation, settings)
        if case .greeting = request, settings.target.registersUsers {
            throw invocation.parsed.mistake("--self is for a backend of kind http; name the --user")
        }
        let answers = try await settings.withBackendClient(connectionLimit: 64) { client in
            do {
                return try await request.send(with: client)
            } catch let mistake as InvalidArgument {
                throw invocation.parsed.mistake("\(mistake)")
            } catch BackendClientError.noToken(let trouble) {
                throw CommandFailure(trouble)
            }
        }
        try show(answers, invocation)
        return status(answers.map(\.answer))
    }

    private enum Request {
        case greeting
        case notification(user: String, pushServices: [String], message: String, id: String)

        func send(with client: BackendClient) async throws -> [ServiceAnswer] {
            switch self {
            case .greeting: [ServiceAnswer(pushService: "all", answer: try await client.sendToSelf())]
            case .notification(let user, let pushServices, let message, let id):
                try await client.send(pushServices, to: user, message: message, idempotencyKey: id)
            }
        }
    }

    private static func request(_ invocation: Invocation, _ settings: Settings) throws -> Request {
        let parsed = invocation.parsed
        if parsed[toSelf] {
            guard parsed[user] == nil, parsed[pushServices] == nil, parsed[message] == nil else {
                throw parsed.mistake("--self goes without --user, --pns and --message")
            }
            return .greeting
        }
        guard let user = parsed[user], let names = parsed[pushServices], let message = parsed[message] else {
            throw parsed.mistake("--user, --pns and --message are needed, or --self")
        }
        let resolved = try settings.pushServices(names, of: "pns", in: parsed)
        let id = parsed[id] ?? "send-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        return .notification(user: user, pushServices: resolved, message: message, id: id)
    }

    private static func show(_ answers: [ServiceAnswer], _ invocation: Invocation) throws {
        let records: [[JSONValue]] = answers.map { answer in
            let result = answer.answer
            if result.status != 0 {
                return [.string(answer.pushService), .integer(result.status), .text(result.detail)]
            }
            let why = [result.failure?.word ?? "oversized", result.detail].compactMap(\.self).joined(separator: ": ")
            return [.string(answer.pushService), .null, .string(why)]
        }
        try RecordWriter.write(
            records, [.init("pns"), .init("status", isNumber: true), .init("detail")],
            as: invocation.parsed[OutputFormat.option], to: invocation.console)
    }

    private static func status(_ answers: [CallResult]) -> ExitStatus {
        let taken = answers.count { $0.verdict == .delivered }
        if taken == answers.count { return .done }
        if taken > 0 { return .partlyDone }
        let areUnreached = answers.allSatisfy { $0.failure != nil }
        return areUnreached ? .unreachable : .failed
    }
}
