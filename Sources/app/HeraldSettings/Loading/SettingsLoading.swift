package import HeraldText

/// The settings that a command requires, beyond those with a default.
package struct SettingsNeeds: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let kafka = Self(rawValue: 1 << 0)
    /// The backend's address, readable credentials, readable TLS files.
    package static let backend = Self(rawValue: 1 << 1)
}

/// A mistake that only a library can detect, such as librdkafka in one of its properties.
package struct LibraryMistake: Sendable, Equatable {
    /// The setting, `kafka.properties`.
    package let path: String
    /// The key of the wrong entry, for a setting that is a map.
    package let key: String?
    /// The mistake and the allowed values; without secrets.
    package let message: String

    package init(path: String, key: String? = nil, message: String) {
        self.path = path
        self.key = key
        self.message = message
    }
}

/// The three sources of settings, the weakest first.
package struct SettingsSources: Sendable {
    package enum File: Sendable {
        case path(String)
        /// Bytes already in memory, and the name for mistakes.
        case bytes([UInt8], name: String)
    }

    package var file: File?
    /// The environment; only `HERALD_…` is read.
    package var environment: [String: String]
    /// The given flags, by name without dashes, with their values in order.
    package var flags: [String: [String]]

    /// Sources; all may be absent.
    package init(file: File? = nil, environment: [String: String] = [:], flags: [String: [String]] = [:]) {
        self.file = file
        self.environment = environment
        self.flags = flags
    }
}

/// Settings without a mistake, and remarks about them.
package struct LoadedSettings: Sendable {
    package let settings: Settings
    package let warnings: [SettingsMistake]
    /// Secret files that every user of this machine may read: reported by long-running commands and doctor.
    package let sharedFiles: [SettingsMistake]
    /// Every setting's effective value and its source, in the documentation's order.
    package let effective: [EffectiveSetting]
}

extension Settings {
    /// Reads file, environment and flags, checks everything, and throws all mistakes at once.
    ///
    /// - Parameter check: Returns the mistakes that libraries find; it sees the default in place of a refused value.
    package static func load(
        _ sources: SettingsSources, requiring needs: SettingsNeeds = [],
        checking check: (Settings) -> [LibraryMistake] = { _ in [] }
    ) throws(SettingsError) -> LoadedSettings {
        var values = SettingsValues()
        var mistakes: [SettingsMistake] = []

        func decode(
            _ node: SettingNode, _ setting: any AnySetting, _ report: SettingsReport, _ rank: SettingsValues.Rank
        ) {
            var report = report
            if let value = setting.decode(node, &report) {
                let place = report.place(of: node.position)
                var keys: [String: SettingsPlace] = [:]
                if case .map(let entries) = node.content {
                    for entry in entries { keys[entry.key] = report.place(of: entry.position) }
                }
                values.set(setting, value, at: place, keys: keys, rank: rank)
            } else {
                values.markMistaken(setting)
            }
            mistakes += report.mistakes
        }

        let file = sources.file.map(SettingsFile.init)
        if let file {
            for found in file.found { decode(found.node, found.setting, file.report(for: found.setting), .file) }
            mistakes = (file.mistakes + mistakes).sortedByPlace
        }
        for (variable, text) in sources.environment.sorted(by: { $0.key < $1.key })
        where variable.hasPrefix(SettingNames.variablePrefix) {
            if let setting = SettingsTable.all.first(where: { $0.variable == variable }) {
                let report = SettingsReport(source: .environment(variable: variable), path: setting.path)
                decode(SettingNode(texts: [text], shape: setting.traits.shape), setting, report, .environment)
            } else if !SettingNames.isServiceLink(variable) {
                let message = "unknown setting" + UnknownSetting.suggestion(forVariable: variable)
                mistakes.append(SettingsMistake(place: .environment(variable), path: "", message: message))
            }
        }
        for setting in SettingsTable.all {
            guard let texts = sources.flags[setting.flag] else { continue }
            let report = SettingsReport(source: .flag(name: setting.flag), path: setting.path)
            decode(SettingNode(texts: texts, shape: setting.traits.shape), setting, report, .flag)
        }

        // A file that cannot be read to its end may have set more.
        let rules = SettingsRules(values, requiring: needs, isComplete: file?.isBroken != true)
        mistakes += rules.mistakes
        let settings = Settings(values: values)
        let refused = check(settings).map { found in
            SettingsMistake(
                place: values.place(ofPath: found.path, key: found.key), path: found.path, message: found.message)
        }
        mistakes += refused.sortedByPlace
        guard mistakes.isEmpty else { throw SettingsError(mistakes: mistakes) }
        return LoadedSettings(
            settings: settings, warnings: rules.warnings, sharedFiles: rules.sharedFiles,
            effective: SettingsTable.all.map(values.shown))
    }

    /// The same settings with some replaced by later information, by the names of their flags.
    package func replacing(_ flags: [String: [String]]) throws(SettingsError) -> Settings {
        var values = values
        for setting in SettingsTable.all {
            guard let texts = flags[setting.flag] else { continue }
            var report = SettingsReport(source: .flag(name: setting.flag), path: setting.path)
            let node = SettingNode(texts: texts, shape: setting.traits.shape)
            guard let value = setting.decode(node, &report) else { throw SettingsError(mistakes: report.mistakes) }
            values.set(setting, value, at: report.place(of: node.position), rank: .flag)
        }
        return Settings(values: values)
    }
}

extension SettingsFile {
    fileprivate init(_ source: SettingsSources.File) {
        switch source {
        case .path(let path): self.init(path: path)
        case .bytes(let bytes, let name): self.init(name: name, bytes: bytes)
        }
    }
}

extension [SettingsMistake] {
    /// By line, then column; mistakes of one place keep their order.
    fileprivate var sortedByPlace: Self {
        func key(_ mistake: SettingsMistake) -> (Int, Int) {
            if case .file(_, let line, let column) = mistake.place { (line, column) } else { (0, 0) }
        }
        return enumerated()
            .sorted {
                (key($0.element).0, key($0.element).1, $0.offset) < (key($1.element).0, key($1.element).1, $1.offset)
            }
            .map(\.element)
    }
}

/// One setting as `config show` prints it: the effective value, without secrets, and its source.
package struct EffectiveSetting: Sendable, Equatable {
    /// The setting, `retry.maxElapsed`.
    package let path: String
    /// Its value; `null` when absent, `***` for a secret.
    package let value: JSONValue
    package let place: SettingsPlace
}
