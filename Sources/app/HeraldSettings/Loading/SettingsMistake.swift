import HeraldText

/// The place at which a setting's value was written.
package enum SettingsPlace: Sendable, Equatable, CustomStringConvertible {
    /// Nowhere: the default of the table.
    case standard
    /// A line and column, counted from one, of the settings file.
    case file(name: String, line: Int, column: Int)
    case environment(String)
    /// A flag of the command line, without its dashes.
    case flag(String)

    /// The strength of the source: the environment overrides the file, a flag overrides both.
    var rank: Int {
        switch self {
        case .standard: 0
        case .file: 1
        case .environment: 2
        case .flag: 3
        }
    }

    /// The place in words: `herald.yaml:12:7`, `environment HERALD_…`, `flag --…`, `default`.
    package var description: String {
        switch self {
        case .standard: "default"
        case .file(let name, let line, let column): "\(SafeText.escaped(name)):\(line):\(column)"
        case .environment(let name): "environment \(SafeText.escaped(name))"
        case .flag(let name): "flag --\(SafeText.escaped(name))"
        }
    }
}

/// One mistake in the settings, with its place; never holds a secret.
package struct SettingsMistake: Sendable, Equatable, CustomStringConvertible {
    package let place: SettingsPlace
    /// The setting, `retry.maxElapsed` or `retry.delays[2]`; empty for a mistake of the file itself.
    package let path: String
    package let message: String

    /// One line for people: `herald.yaml:12:7: retry.immediate: "x" is not a whole number; allowed: 0 to 20`.
    package var description: String {
        let subject = path.isEmpty ? "" : "\(SafeText.escaped(path)): "
        return switch place {
        case .standard: subject + message
        case .file: "\(place): \(subject)\(message)"
        case .environment, .flag: "\(place): \(message)"
        }
    }
}

/// All mistakes in the settings, found in one go.
package struct SettingsError: Error, Equatable, CustomStringConvertible {
    /// The mistakes: the file's in its own order, then the environment's, the flags', and missing settings.
    package let mistakes: [SettingsMistake]

    package init(mistakes: [SettingsMistake]) { self.mistakes = mistakes }

    package var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
