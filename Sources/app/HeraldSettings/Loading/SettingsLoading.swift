package import HeraldText

/// The settings that a command requires, beyond those with a default.
package struct SettingsNeeds: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let kafka = Self(rawValue: 1 << 0)
    /// The backend's address, readable credentials, readable TLS files.
    package static let backend = Self(rawValue: 1 << 1)
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
        checking check: (Settings) -> [SettingsMistake] = { _ in [] }
    ) throws(SettingsError) -> LoadedSettings {
        var values = SettingsValues()
        var mistakes: [SettingsMistake] = []
        let file = sources.file.map(SettingsFile.init)
        if let file {
            mistakes = file.mistakes
            for found in file.found { mistakes += values.read(found.setting, found.node, from: file.place) }
            mistakes = mistakes.sortedByPlace
        }
        for (variable, text) in sources.environment.sorted(by: { $0.key < $1.key })
        where variable.hasPrefix(SettingNames.variablePrefix) {
            if let setting = SettingsTable.all.first(where: { $0.variable == variable }) {
                let node = SettingNode(texts: [text], shape: setting.traits.shape)
                mistakes += values.read(setting, node, from: .environment(variable))
            } else if !SettingNames.isServiceLink(variable) {
                let message = "unknown setting" + UnknownSetting.suggestion(forVariable: variable)
                mistakes.append(SettingsMistake(place: .environment(variable), path: "", message: message))
            }
        }
        mistakes += values.read(flags: sources.flags)

        // A file that cannot be read to its end may have set more.
        let rules = SettingsRules(values, requiring: needs, isComplete: file?.isBroken != true)
        mistakes += rules.mistakes
        let settings = Settings(values: values)
        mistakes += check(settings).sortedByPlace
        guard mistakes.isEmpty else { throw SettingsError(mistakes: mistakes) }
        return LoadedSettings(
            settings: settings, warnings: rules.warnings, sharedFiles: rules.sharedFiles,
            effective: SettingsTable.all.map(values.shown))
    }

    /// The same settings with some replaced by later information, by the names of their flags.
    package func replacing(_ flags: [String: [String]]) throws(SettingsError) -> Settings {
        var values = values
        let mistakes = values.read(flags: flags)
        guard mistakes.isEmpty else { throw SettingsError(mistakes: mistakes) }
        return Settings(values: values)
    }

    /// A mistake that only a library can detect, such as librdkafka in one of its properties.
    ///
    /// - Parameters:
    ///   - key: The key of the wrong entry, for a setting that is a map.
    ///   - message: The mistake and the allowed values; without secrets.
    package func mistake(at path: String, key: String? = nil, _ message: String) -> SettingsMistake {
        SettingsMistake(place: values.place(ofPath: path, key: key), path: path, message: message)
    }
}

extension [SettingsMistake] {
    /// By line, then column; mistakes of one place keep their order.
    fileprivate var sortedByPlace: Self {
        func key(_ mistake: SettingsMistake) -> (Int, Int) {
            if case .file(_, let line, let column) = mistake.place { (line, column) } else { (0, 0) }
        }
        return sorted { key($0) < key($1) }
    }
}

/// One setting as `config show` prints it: the effective value, without secrets, and its source.
package struct EffectiveSetting: Sendable, Equatable {
    package let path: String
    package let value: JSONValue
    package let place: SettingsPlace
}
