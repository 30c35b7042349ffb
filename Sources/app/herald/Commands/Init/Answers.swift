import HeraldDoctor
import HeraldKafka
import HeraldSettings
import HeraldText

/// The settings known to `herald init`: from flags and environment, and from answers.
struct Answers {
    /// The values given from the start, by the settings' paths.
    private let given: [String: String]
    private let properties: KafkaProperties
    private var answered: [String: String] = [:]
    /// The settings whose files are still to be written, from typed secrets.
    private var typed: Set<String> = []
    /// The file of the authorities trusted for brokers.
    private(set) var authorities: String?
    var listener: ListenerSecurity?
    /// Whether a login may go to brokers without TLS.
    var mayBeUnencrypted = false
    /// The base of relative paths: a worker may run in another directory.
    private let directory: String

    init(_ loaded: LoadedSettings, directory: String) {
        let written = loaded.effective.filter { $0.place != .standard }
        given = Dictionary(uniqueKeysWithValues: written.map { ($0.path, Self.text($0.value)) })
        properties = loaded.settings.kafka.properties
        self.directory = directory
        for (path, text) in given where Self.isFile(path) && !text.hasPrefix("/") { answered[path] = absolute(text) }
    }

    /// The value in the form of a flag.
    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .array(let values): values.map(text).joined(separator: ",")
        case .null, .bool, .integer, .number, .object: value.compact
        }
    }

    subscript(_ path: String) -> String? { answered[path] ?? given[path] }

    var login: KafkaAuthenticationKind {
        self["kafka.auth.kind"].flatMap { KafkaAuthenticationKind(rawValue: $0) } ?? .none
    }

    var credentials: AuthenticationKind {
        let kind = self["backend.auth.kind"] ?? SettingsTable.setting("backend.auth.kind")?.standardText
        return kind.flatMap { AuthenticationKind(rawValue: $0) } ?? .none
    }

    func isGiven(_ question: Interview.Question) -> Bool {
        switch question {
        case .setting(let path): given[path] != nil
        case .secret(let path): given[path] != nil
        case .backend: given["backend.url"] != nil || given["backend.kind"] == Interview.hub
        case .authorities, .unencrypted: false
        }
    }

    /// Whether the setting's file is for a typed secret.
    func isTyped(_ path: String) -> Bool { typed.contains(path) }

    /// Whether a setting names a file with a secret that a person can type.
    static func namesSecret(_ path: String) -> Bool {
        ["passwordFile", "tokenFile", "clientSecretFile", "connectionStringFile"].contains { path.hasSuffix(".\($0)") }
    }

    /// Takes an answer; returns the fault if the settings refuse it.
    mutating func put(_ text: String, for question: Interview.Question) -> String? {
        var changed = self
        let path: String
        switch question {
        case .setting(let name):
            path = name
            changed.put(text, at: name)
        case .secret(let name):
            path = name
            changed.answered[name] = text
            changed.typed.insert(name)
        case .backend:
            path = text == Interview.hub ? "backend.kind" : "backend.url"
            changed.putBackend(text)
        case .authorities:
            authorities = absolute(text)
            return nil
        case .unencrypted: return nil
        }
        if let mistake = changed.mistake(about: path) { return mistake }
        self = changed
        return nil
    }

    mutating func remove(_ question: Interview.Question) {
        switch question {
        case .setting(let path), .secret(let path):
            answered[path] = nil
            typed.remove(path)
        case .authorities: authorities = nil
        case .backend, .unencrypted: break
        }
    }

    private mutating func put(_ text: String, at path: String) {
        // Settings of the old kind would be refused beside the new one.
        if path.hasSuffix(".auth.kind"), let former = self[path], former != text {
            forget(in: String(path.dropLast("kind".count)))
        }
        answered[path] = Self.isFile(path) ? absolute(text) : text
        typed.remove(path)
    }

    private mutating func putBackend(_ text: String) {
        let kind = text == Interview.hub ? BackendKind.azureHub : .http
        if let former = self["backend.kind"], former != kind.rawValue {
            forget(in: "backend.auth.")
            forget(in: "backend.hub.")
        }
        answered["backend.kind"] = kind.rawValue
        answered["backend.url"] = kind == .http ? text : nil
    }

    private mutating func forget(in section: String) {
        answered = answered.filter { !$0.key.hasPrefix(section) }
        typed = typed.filter { !$0.hasPrefix(section) }
    }

    private static func isFile(_ path: String) -> Bool { SettingsTable.setting(path)?.traits.isFile == true }

    private func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "\(directory)/\(path)" }

    /// Sets the file that a typed secret is written to.
    mutating func moveSecret(of path: String, to file: String) {
        answered[path] = file
        typed.remove(path)
    }

    private func mistake(about path: String) -> String? {
        let others = given.compactMap { path, text in SettingsTable.setting(path).map { ($0.flag, [text]) } }
        do throws(SettingsError) {
            _ = try Settings.load(SettingsSources(flags: flags.merging(others) { answer, _ in answer }))
            return nil
        } catch {
            return error.mistakes.first { $0.path.hasPrefix(path) }?.message
        }
    }
}

extension Answers {
    /// Whether the chosen login needs TLS and the brokers have none.
    var wantsUnencryptedLogin: Bool {
        switch login {
        case .plain, .scramSHA256, .scramSHA512, .oauthbearer:
            listener == .plaintext && properties["security.protocol"] == nil
        case .none, .certificate: false
        }
    }

    /// The settings' flags from the answers, their consequences, and the brokers' ports.
    var flags: [String: [String]] {
        var flags: [String: [String]] = [:]
        for (path, text) in answered {
            if let setting = SettingsTable.setting(path) { flags[setting.flag] = [text] }
        }
        var more: [(name: String, value: String)] = []
        if let authorities { more.append(("ssl.ca.location", authorities)) }
        if properties["security.protocol"] == nil, let listenerProtocol {
            more.append(("security.protocol", listenerProtocol))
        }
        guard !more.isEmpty else { return flags }
        // The flag replaces the map as a whole.
        let old = properties.sorted.filter { property in !more.contains { $0.name == property.name } }
        flags["kafka-properties"] = (old + more).map { "\($0.name)=\($0.value.replacing(",", with: "\\,"))" }
        return flags
    }

    /// The protocol, where it differs from the login's default for TLS.
    private var listenerProtocol: String? {
        if login == .none, listener == .tls { return "ssl" }
        return wantsUnencryptedLogin && mayBeUnencrypted ? "sasl_plaintext" : nil
    }
}
