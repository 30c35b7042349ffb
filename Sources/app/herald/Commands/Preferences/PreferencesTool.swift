import HeraldCommandLine
import HeraldEvents
import HeraldSettings
import HeraldText
import HeraldTools

/// The common part of the commands about opt-outs and recalls.
struct PreferencesTool {
    static let user = CommandOption.required("USER", .text("USER"), "The user, as in the event's user.")
    static let reason = CommandOption.optional("reason", .text("TEXT"), "Why; goes into the audit topic.")
    static let usedSettings: UsedSettings =
        .cluster + .topics("preferences", "recalls", "audit") + .pushServices + [
            "preferences.enabled", "preferences.forgetKeyFile",
        ]

    let settings: Settings
    let context: LastWordContext
    let console: Console

    init(_ invocation: Invocation) throws {
        settings = try invocation.settings(requiring: [.kafka])
        console = invocation.console
        context = try settings.lastWordContext(environment: invocation.environment)
        if !settings.preferences.enabled {
            console.complain(
                "warning: preferences.enabled is false in these settings: workers that have them call whom they like, "
                    + "whatever the topics say")
        }
    }

    /// The user that an argument names, checked by the settings' rule.
    func user(_ invocation: Invocation, _ text: String) throws -> String {
        if let problem = settings.backend.users.problem(in: text.utf8.span.bytes) {
            throw invocation.parsed.mistake(problem)
        }
        return text
    }

    func partitions(of topic: String, isWriting: Bool) throws -> [Int32] {
        try context.partitions(
            of: topic, isWriting: isWriting, reach: settings.clusterReach, admin: settings.adminClient())
    }

    /// What a user has said; reads the whole topic.
    func word(of user: String) throws -> LastWordContext.Entry? { try look(at: user).word }

    /// The same, and how many words of forgotten users it cannot tell whose they are.
    func look(at user: String) throws -> (word: LastWordContext.Entry?, hidden: Int) {
        var line = ProgressLine(console)
        defer { line.clear() }
        return try context.look(at: user, reach: settings.clusterReach, admin: settings.adminClient()) {
            passed, total in
            line.show(share: passed, of: total, "\(passed) of \(total) records read")
            return true
        }
    }

    /// What holds for many users; reads the whole topic.
    func words(of users: UserHashes) throws -> ManyWords {
        var line = ProgressLine(console)
        defer { line.clear() }
        return try context.words(of: users, reach: settings.clusterReach, admin: settings.adminClient()) {
            passed, total in
            line.show(share: passed, of: total, "\(passed) of \(total) records read")
            return true
        }
    }

    static func json(_ entry: LastWordContext.Entry?) -> JSONValue {
        entry.map { .array($0.preference.optOut.entries.map { .string($0) }) } ?? .null
    }
}

extension Settings {
    func lastWordContext(environment: [String: String]) throws -> LastWordContext {
        LastWordContext(
            topics: topicNames, pushServices: try pushServices(), classes: topics.classes,
            readerProperties: KafkaClientSettings.toolReader(self),
            writerProperties: KafkaClientSettings.publisher(self),
            operatorName: Operator.name(environment: environment),
            kept: try keptNames())
    }

    /// The names of opt-outs that outlive their users' erasure; `nil` when nothing is kept.
    func keptNames() throws -> KeptNames? {
        guard let path = preferences.forgetKeyFile else { return nil }
        let secret: Secret
        do throws(InputError) {
            secret = try SecretSource.file(path).current()
        } catch {
            throw CommandFailure("preferences.forgetKeyFile: \(error)", status: .badSettings)
        }
        guard secret.reveal().utf8.count >= KeptNames.shortestSecret else {
            throw CommandFailure(
                "preferences.forgetKeyFile: \(path) has fewer than \(KeptNames.shortestSecret) bytes; "
                    + "head -c 24 /dev/urandom | base64 makes a secret", status: .badSettings)
        }
        return KeptNames(secret)
    }
}
