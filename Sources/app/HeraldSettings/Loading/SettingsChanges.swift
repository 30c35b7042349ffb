import HeraldText

/// The effect of settings that a running worker reads again.
package struct SettingsChanges: Sendable {
    /// The settings from now on: live ones with their new values, all others with their old ones.
    package let settings: Settings
    /// The live settings with a new value, such as `limits.perSecond 100 → 200`; no secrets.
    package let changed: [String]
    /// The paths of changed settings that take effect after a restart.
    package let needRestart: [String]

    /// One line for people, such as `limits.perSecond 100 → 200; needs a restart: kafka.group`.
    package var description: String {
        var parts: [String] = []
        if !changed.isEmpty { parts.append(changed.joined(separator: ", ")) }
        if !needRestart.isEmpty { parts.append("needs a restart: " + needRestart.joined(separator: ", ")) }
        return parts.isEmpty ? "nothing has changed" : parts.joined(separator: "; ")
    }

    fileprivate static func text(_ value: EffectiveSetting) -> String {
        switch value.value {
        case .null: "none"
        case .string(let text): text
        default: value.value.compact
        }
    }
}

extension Settings {
    /// The changes that a worker with these settings makes for newly read ones.
    package func changes(to read: Settings) -> SettingsChanges {
        var values = values
        var changed: [String] = []
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
            let (former, present) = (self.values.shown(setting), read.values.shown(setting))
            changed.append("\(setting.path) \(SettingsChanges.text(former)) → \(SettingsChanges.text(present))")
        }
        return SettingsChanges(settings: Settings(values: values), changed: changed, needRestart: needRestart)
    }
}
