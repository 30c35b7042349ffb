package import HeraldText

/// The effect of settings that a running worker reads again.
package struct SettingsChanges: Sendable {
    /// A live setting with a new value.
    package struct Change: Sendable, Equatable {
        /// The setting, `limits.perSecond`.
        package let path: String
        /// Its values as in ``EffectiveSetting``: no secrets.
        package let former: JSONValue
        package let present: JSONValue
    }

    /// The settings from now on: live ones with their new values, all others with their old ones.
    package let settings: Settings
    package let changed: [Change]
    /// The paths of changed settings that take effect after a restart.
    package let needRestart: [String]

    /// One line for people, such as `limits.perSecond 100 → 200; needs a restart: kafka.group`.
    package var description: String {
        var parts: [String] = []
        if !changed.isEmpty { parts.append(changed.map(\.description).joined(separator: ", ")) }
        if !needRestart.isEmpty { parts.append("needs a restart: " + needRestart.joined(separator: ", ")) }
        return parts.isEmpty ? "nothing has changed" : parts.joined(separator: "; ")
    }
}

extension SettingsChanges.Change: CustomStringConvertible {
    package var description: String { "\(path) \(Self.text(former)) → \(Self.text(present))" }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .null: "none"
        case .string(let text): text
        default: value.compact
        }
    }
}

extension Settings {
    /// The changes that a worker with these settings makes for newly read ones.
    package func changes(to read: Settings) -> SettingsChanges {
        var values = values
        var changed: [SettingsChanges.Change] = []
        var needRestart: [String] = []
        let different = SettingsTable.all.filter { !self.values.isSame($0, in: read.values) }
        for setting in different {
            let isLive =
                switch setting.reload {
                case .needsRestart: false
                case .live: true
                case .liveBeside(let other): !different.contains { $0.path == other }
                }
            guard isLive else {
                needRestart.append(setting.path)
                continue
            }
            values.take(setting, from: read.values)
            changed.append(
                SettingsChanges.Change(
                    path: setting.path, former: self.values.shown(setting).value,
                    present: read.values.shown(setting).value))
        }
        return SettingsChanges(settings: Settings(values: values), changed: changed, needRestart: needRestart)
    }
}
