import HeraldBackend
import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldHTTP
import HeraldSettings
import HeraldText

enum SendCommand: HeraldCommand {
    private static let user = CommandOption.optional("user", .text("USER"), "Whom to notify.")
    private static let pushServices = CommandOption.optional("pns", .pushServices, "The push services to send to.")
    private static let message = CommandOption.optional("message", .text("TEXT"), "The message.")
        .withForeignNames
    private static let id = CommandOption.optional(
        "id", .text("ID"), "The idempotency key without user and push service; a random one when it is left out.")
    private static let toSelf = CommandOption.flag(
        "self", "Ask the backend to notify the caller's own devices on every push service instead.")

    static let declaration = CommandDeclaration(
        "send", "Send a notification straight to the backend, without Kafka.",
        details:
            "It calls all push services at once and shows each status. The exit status is 0 if all accepted the "
            + "message, 3 if some did, 1 if none did, 5 if the backend could not be reached.",
        options: [user, pushServices, message] + ContentOptions.all + [id, toSelf, OutputFormat.option],
        examples: [
            .init("herald send --user alice --pns apns,gcm --message 'Hi'", "Notify a user."),
            .init(
                "herald send --user alice --pns apns --title 'Your parcel' --message 'is here' --link shop://orders/17",
                "See on a phone what an app makes of it."),
            .init("herald send --self", "Notify your own devices."),
        ])
    static let usedSettings: UsedSettings = .backendClient + ["backend.path", "backend.body"] + .pushServices

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let settings = try invocation.settings(requiring: [.backend])
        let parsed = invocation.parsed
        let isToSelf = parsed[toSelf]
        if isToSelf {
            let others: [any DeclaredOption] = [user, pushServices, message] + ContentOptions.all
            if let other = others.first(where: parsed.has)?.declaration {
                throw parsed.mistake("--self goes without --\(other.name)")
            }
            guard !settings.target.registersUsers else {
                throw parsed.mistake("--self is for a backend of kind http; name the --user")
            }
        } else if parsed[user] == nil || parsed[pushServices] == nil || parsed[message] == nil {
            throw parsed.mistake("--user, --pns and --message are needed, or --self")
        }
        var event = NotificationEvent(
            user: parsed[user] ?? "", message: parsed[message] ?? "",
            pushServices: try settings.pushServices(parsed[pushServices] ?? [], of: "pns", in: parsed))
        try ContentOptions.add(to: &event, parsed)
        let id = parsed[id] ?? "send-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        for warning in settings.contentReach.warnings(event.contentFields, to: event.pushServices) {
            invocation.console.complain("warning: \(warning)")
        }
        let answers = try await settings.withBackendClient(connectionLimit: 64) { [event] client in
            do {
                if isToSelf { return [ServiceAnswer(pushService: "all", answer: try await client.sendToSelf())] }
                return try await client.send(event, idempotencyKey: id)
            } catch let mistake as InvalidArgument {
                throw parsed.mistake("\(mistake)")
            } catch BackendClientError.noToken(let trouble) {
                throw CommandFailure(trouble)
            }
        }
        try show(answers, invocation)
        return status(answers.map(\.answer))
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
        try invocation.write(records, [.init("pns"), .init("status", isNumber: true), .init("detail")])
    }

    private static func status(_ answers: [CallResult]) -> ExitStatus {
        let taken = answers.count { $0.verdict == .delivered }
        if taken == answers.count { return .done }
        if taken > 0 { return .partlyDone }
        return answers.allSatisfy { $0.failure != nil } ? .unreachable : .failed
    }
}
