import HeraldCommandLine
import HeraldEvents
import HeraldTime

/// The request to `herald publish`; contradicting options are refused.
struct PublishRequest {
    enum Events {
        case one(NotificationEvent)
        /// A path, or `-` for standard input.
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
        if isCheck, wait != nil { throw parsed.mistake("--check and --wait do not go together") }
        if let path = parsed[Command.file] {
            let others: [any DeclaredOption] = [
                Command.user, Command.pushServices, Command.message, Command.source, Command.campaign,
                Command.expiresIn, Command.expiresAt, Command.notBefore,
            ]
            if let other = others.first(where: parsed.has)?.declaration {
                throw parsed.mistake("--file and --\(other.name) do not go together")
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
            throw parsed.mistake("--user, --pns and --message are needed, or --file")
        }
        var expiresAt = parsed[Command.expiresAt]
        if let after = parsed[Command.expiresIn] {
            guard expiresAt == nil else {
                throw parsed.mistake("--expires-in and --expires-at do not go together")
            }
            expiresAt = SystemClock.wall().advanced(by: Milliseconds(after))
        }
        return NotificationEvent(
            id: parsed[Command.id], user: user, message: message, pushServices: services,
            source: parsed[Command.source], campaign: parsed[Command.campaign], expiresAt: expiresAt,
            notBefore: parsed[Command.notBefore])
    }
}
