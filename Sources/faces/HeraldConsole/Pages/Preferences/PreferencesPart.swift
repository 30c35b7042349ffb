internal import HeraldEvents
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// The *Preferences* page: what a user does not want, for operators, and changes of it; ``RecallPart`` has the recalls.
///
/// A user's word is read out of the whole topic, so each step is a task that ends when no page asks for it any more.
final class PreferencesPart: ConsolePart {
    private struct Look: Decodable {
        var user: String
    }

    private struct Change: Decodable {
        var user: String
        /// The whole of what the user does not want; `nil` forgets the user.
        var optOut: [String]?
        /// The quiet hours as commands take them; `nil` leaves them as they are.
        var quiet: String?
        var reason: String?
    }

    private let context: ConsoleContext
    private let tasks: ReadingTasks

    init(_ context: ConsoleContext) throws {
        self.context = context
        tasks = try ReadingTasks(
            name: "preferences", busy: "four users' words are read already; try again in a moment")
    }

    func stop() { tasks.stop() }

    var routes: [ConsoleRoute] {
        [
            .get("/api/preferences") { [self] _ in
                .json([
                    "pns": .words(context.words.pushServices.names), "keeps": .bool(context.words.kept != nil),
                    "zones": .words(context.zones.names), "defaultZone": .text(context.defaultZone),
                ])
            },
            .operate("/api/preferences/show") { [self] in try look($0) },
            .change("/api/preferences/change") { [self] in try change($0) },
            .operate("/api/preferences/task/*") { [self] in try tasks.standing(of: $0.parameters[0]) },
        ]
    }

    // MARK: Looking

    /// Begins to read a user's word, after an audit record of the viewer who sees it.
    private func look(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let user = try user(request.decoded(Look.self).user)
        let words = context.signed(by: request.viewer.name).words
        try words.recordReveal(of: user)
        let command = ["herald", "preferences", "show", user]
        return try tasks.begin { [context] progress in
            let entry = try words.word(of: user, reach: context.reach, admin: context.admin, onProgress: progress)
            return Self.json(user, entry).with("command", .words(command))
        }
    }

    private static func json(_ user: String, _ entry: LastWordContext.Entry?) -> JSONValue {
        let word = entry?.preference
        return .present([
            .init("user", .string(user)), .init("optOut", .words(word?.optOut.entries ?? [])),
            .init("isKnown", .bool(entry.map { !$0.isKept } ?? false)),
            .init("isKept", .bool(entry?.isKept ?? false)), .init("words", .string(LastWordContext.words(entry))),
            .init("quiet", .text(word?.quiet?.text)), .init("quietHours", word?.quiet?.json ?? .null),
            .init("updatedAt", .text(word?.updatedAt?.text)), .init("by", .text(word?.by)),
            .init("problem", .text(entry?.problem)),
        ])
    }

    private func user(_ text: String) throws -> String {
        if let problem = context.starts.users.problem(in: text.utf8.span.bytes) { throw FormMistake("user", problem) }
        return text
    }

    // MARK: Changing

    private func change(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let change = try request.decoded(Change.self)
        let user = try user(change.user)
        let words = context.signed(by: request.viewer.name).words
        let reason = ConsoleRequest.reason(change.reason)
        let options = reason.map { ["--reason", $0] } ?? []
        guard let entries = change.optOut else {
            let command = ["herald", "preferences", "forget", user] + options
            return try tasks.begin { [context] progress in
                let former =
                    words.kept == nil
                    ? nil : try words.word(of: user, reach: context.reach, admin: context.admin, onProgress: progress)
                try words.forget(user, former, reason: reason)
                return Self.json(user, nil).with("command", .words(command))
            }
        }
        let wanted: OptOut
        do throws(InputError) {
            wanted = entries.isEmpty ? OptOut() : try OptOut.reading(entries, pushServices: words.pushServices)
        } catch {
            throw FormMistake("sources", error.description)
        }
        let hours = try change.quiet.map { try quietHours($0) }
        let command =
            ["herald", "preferences", "set", user, "--opt-out", wanted.words]
            + (hours.map { ["--quiet-hours", $0?.text ?? "none"] } ?? []) + options
        return try tasks.begin { [context] progress in
            let former = try words.word(of: user, reach: context.reach, admin: context.admin, onProgress: progress)
            let written = try words.set(user, insteadOf: former, reason: reason) { word in
                word.optOut = wanted
                if let hours { word.quiet = hours }
            }
            let quiet = written.preference.quiet
            return .present([
                .init("user", .string(user)), .init("was", .string(LastWordContext.words(former))),
                .init("is", .string(LastWordContext.words(written))),
                .init("quiet", .text(quiet?.text)), .init("quietHours", quiet?.json ?? .null),
                .init("command", .words(command)),
            ])
        }
    }

    /// The hours that a form has, in a zone that this machine knows; `nil` for none.
    private func quietHours(_ text: String) throws -> QuietHours? {
        if text == "none" { return nil }
        let hours: QuietHours
        do throws(InvalidArgument) {
            hours = try QuietHours(text: text)
        } catch {
            throw FormMistake("quiet", "\(error)")
        }
        if let problem = hours.zoneProblem(among: context.zones) { throw FormMistake("zone", problem) }
        return hours
    }
}
