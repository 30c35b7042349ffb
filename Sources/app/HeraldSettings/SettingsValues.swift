import HeraldText

/// The effective value of each setting and its source: the environment overrides the file, a flag overrides both.
struct SettingsValues {
    private struct Stored {
        let value: any Sendable
        let place: SettingsPlace
        /// The place of each key of a map.
        let keys: [String: SettingsPlace]
        let rank: Rank
    }

    /// The source of a value; a later one wins.
    enum Rank: Int, Comparable {
        case file
        case environment
        case flag

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    private var stored: [String: Stored] = [:]
    private var mistaken: Set<String> = []

    /// Sets a value, overriding earlier sources; sources are read in rising rank.
    mutating func set(
        _ setting: any AnySetting, _ value: any Sendable, at place: SettingsPlace, keys: [String: SettingsPlace] = [:],
        rank: Rank
    ) {
        stored[setting.path] = Stored(value: value, place: place, keys: keys, rank: rank)
    }

    /// Notes that a source's value was refused, so that rules over several settings ignore it.
    mutating func markMistaken(_ setting: any AnySetting) { mistaken.insert(setting.path) }

    /// The effective value: the written one, else the default.
    subscript<Value>(_ setting: Setting<Value>) -> Value {
        guard let value = setting.typed(stored[setting.path]?.value ?? setting.standardValue) else {
            preconditionFailure("\(setting.path) has no value of its type")
        }
        return value
    }

    /// The effective value; nil when a source's value was refused.
    func valid<Value>(_ setting: Setting<Value>) -> Value? {
        mistaken.contains(setting.path) ? nil : self[setting]
    }

    /// Whether any source wrote the setting, validly or not.
    func isWritten(_ setting: any AnySetting) -> Bool {
        stored[setting.path] != nil || mistaken.contains(setting.path)
    }

    /// The place of the effective value.
    func place(_ setting: any AnySetting) -> SettingsPlace { place(ofPath: setting.path) }

    /// The same by the setting's path, or for one key of its map.
    func place(ofPath path: String, key: String? = nil) -> SettingsPlace {
        guard let stored = stored[path] else { return .standard }
        return key.flatMap { stored.keys[$0] } ?? stored.place
    }

    /// The source of the effective value; nil for the default.
    func rank(_ setting: any AnySetting) -> Rank? { stored[setting.path]?.rank }

    /// Whether two sets of settings have the same effective value.
    func isSame(_ setting: any AnySetting, in other: Self) -> Bool {
        guard let mine = value(setting), let others = other.value(setting) else {
            return value(setting) == nil && other.value(setting) == nil
        }
        return setting.isSame(mine, others)
    }

    private func value(_ setting: any AnySetting) -> (any Sendable)? {
        if let stored = stored[setting.path] { return stored.value }
        return setting.standardValue
    }

    /// Copies a setting from others, with its place.
    mutating func take(_ setting: any AnySetting, from other: Self) {
        stored[setting.path] = other.stored[setting.path]
    }

    /// The effective value for people, secrets masked; `null` when absent.
    func shown(_ setting: any AnySetting) -> EffectiveSetting {
        EffectiveSetting(path: setting.path, value: value(setting).map(setting.show) ?? .null, place: place(setting))
    }
}

/// The two settings for one secret: the secret itself, or the file that holds it.
struct SecretPair {
    let literal: Setting<Secret?>
    let file: Setting<String?>

    private static let auth = SettingsTable.declared.backend.auth
    private static let admin = SettingsTable.declared.admin

    static let password = SecretPair(literal: auth.password, file: auth.passwordFile)
    static let token = SecretPair(literal: auth.token, file: auth.tokenFile)
    static let clientSecret = SecretPair(literal: auth.clientSecret, file: auth.clientSecretFile)
    static let adminToken = SecretPair(literal: admin.token, file: admin.tokenFile)
    static let all = [password, token, clientSecret, adminToken]
}

extension SettingsValues {
    /// The source of the secret; the setting from the stronger source wins.
    func secret(_ pair: SecretPair) -> SecretSource? {
        if let path = self[pair.file], rank(pair.file) ?? .file >= rank(pair.literal) ?? .file { return .file(path) }
        return self[pair.literal].map { .literal($0) }
    }
}
