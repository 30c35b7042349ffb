import HeraldText

/// The effective value of each setting and its source: the environment overrides the file, a flag overrides both.
struct SettingsValues {
    private struct Stored {
        let value: any Sendable
        let place: SettingsPlace
        /// The place of each key of a map.
        let keys: [String: SettingsPlace]
    }

    private var stored: [String: Stored] = [:]
    private var mistaken: Set<String> = []

    /// Reads a setting's value from a source, overriding earlier ones; returns what is wrong with it.
    ///
    /// Rules over several settings ignore a setting of which a source's value was refused.
    mutating func read(
        _ setting: any AnySetting, _ node: SettingNode, from source: SettingsPlace
    ) -> [SettingsMistake] {
        var report = SettingsReport(source: source, path: setting.path)
        if let value = setting.decode(node, &report) {
            var keys: [String: SettingsPlace] = [:]
            if case .map(let entries) = node.content {
                for entry in entries { keys[entry.key] = report.place(of: entry.position) }
            }
            stored[setting.path] = Stored(value: value, place: report.place(of: node.position), keys: keys)
        } else {
            mistaken.insert(setting.path)
        }
        return report.mistakes
    }

    /// Reads the flags, by their names without dashes.
    mutating func read(flags: [String: [String]]) -> [SettingsMistake] {
        SettingsTable.all.flatMap { setting -> [SettingsMistake] in
            guard let texts = flags[setting.flag] else { return [] }
            return read(setting, SettingNode(texts: texts, shape: setting.traits.shape), from: .flag(setting.flag))
        }
    }

    /// The effective value: the written one, else the default.
    subscript<Value>(_ setting: Setting<Value>) -> Value { stored[setting.path]?.value as? Value ?? setting.standard }

    /// The effective value; nil when a source's value was refused.
    func valid<Value>(_ setting: Setting<Value>) -> Value? {
        mistaken.contains(setting.path) ? nil : self[setting]
    }

    /// The same of a setting that may be absent.
    func valid<Present>(_ setting: Setting<Present?>) -> Present? {
        mistaken.contains(setting.path) ? nil : self[setting]
    }

    func isMistaken(_ setting: any AnySetting) -> Bool { mistaken.contains(setting.path) }

    /// Whether any source wrote the setting, validly or not.
    func isWritten(_ setting: any AnySetting) -> Bool {
        stored[setting.path] != nil || mistaken.contains(setting.path)
    }

    func place(_ setting: any AnySetting) -> SettingsPlace { place(ofPath: setting.path) }

    /// The same by the setting's path, or for one key of its map.
    func place(ofPath path: String, key: String? = nil) -> SettingsPlace {
        guard let stored = stored[path] else { return .standard }
        return key.flatMap { stored.keys[$0] } ?? stored.place
    }

    /// Whether two sets of settings have the same effective value.
    func isSame(_ setting: any AnySetting, in other: Self) -> Bool {
        setting.isSame(value(setting), other.value(setting))
    }

    private func value(_ setting: any AnySetting) -> any Sendable {
        stored[setting.path]?.value ?? setting.standardValue
    }

    mutating func take(_ setting: any AnySetting, from other: Self) {
        stored[setting.path] = other.stored[setting.path]
    }

    /// The effective value for people, secrets masked; `null` when absent.
    func shown(_ setting: any AnySetting) -> EffectiveSetting {
        EffectiveSetting(path: setting.path, value: setting.show(value(setting)), place: place(setting))
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
        if let path = self[pair.file], place(pair.file).rank >= place(pair.literal).rank { return .file(path) }
        return self[pair.literal].map { .literal($0) }
    }
}
