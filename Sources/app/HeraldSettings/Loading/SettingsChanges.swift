package import HeraldText

/// What becomes of a worker's settings when they are read again while it runs.
package struct SettingsChanges: Sendable {
    /// A live setting that has another value.
    package struct Change: Sendable, Equatable {
        /// The setting, `limits.perSecond`.
        package let path: String
        /// Its values, as ``EffectiveSetting`` has them: no secrets.
        package let former: JSONValue
        package let present: JSONValue
    }

    /// The settings that count from now on: the live ones as they are now, all others as they were.
    package let settings: Settings
    package let changed: [Change]
    /// Settings, as paths, that have another value which counts after a restart.
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
    /// What a worker with these settings makes of those that were read now.
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
