import HeraldCommandLine
import HeraldEvents
import HeraldTime

/// What `herald publish` was asked for, with what does not go together refused.
struct PublishRequest {
    enum Events {
        case one(NotificationEvent)
        /// A path, `-` for standard input.
        case file(String)
    }

    let events: Events
    let topic: String?
    let idBase: String?
    let wait: Duration?
    let isCheck: Bool

    private typealias Command = PublishCommand

    init(_ parsed: ParsedCommand) throws {
        topic = parsed[Command.topic]
        idBase = parsed[Command.id]
        wait = parsed[Command.wait]
        isCheck = parsed[Command.check]
        if isCheck, wait != nil { throw UsageError("--check and --wait do not go together", command: parsed.path.name) }
        if let path = parsed[Command.file] {
            let others = [
                Command.user.declaration, Command.pushServices.declaration, Command.message.declaration,
                Command.source.declaration, Command.campaign.declaration, Command.expiresIn.declaration,
                Command.expiresAt.declaration, Command.notBefore.declaration,
            ]
            if let other = others.first(where: { parsed.options[$0.name] != nil }) {
                throw UsageError("--file and --\(other.name) do not go together", command: parsed.path.name)
            }
            events = .file(path)
        } else {
            events = .one(try Self.event(parsed))
        }
    }

    private static func event(_ parsed: ParsedCommand) throws -> NotificationEvent {
        guard let user = parsed[Command.user], let services = parsed[Command.pushServices],
            let message = parsed[Command.message]
        else {
            throw UsageError("--user, --pns and --message are needed, or --file", command: parsed.path.name)
        }
        var expiresAt = parsed[Command.expiresAt]
        if let after = parsed[Command.expiresIn] {
            guard expiresAt == nil else {
                throw UsageError("--expires-in and --expires-at do not go together", command: parsed.path.name)
            }
            expiresAt = SystemClock.wall().advanced(byMilliseconds: after.milliseconds)
        }
        return NotificationEvent(
            id: parsed[Command.id], user: user, message: message, pushServices: services,
            source: parsed[Command.source], campaign: parsed[Command.campaign], expiresAt: expiresAt,
            notBefore: parsed[Command.notBefore])
    }
}
