import HeraldCommandLine
import HeraldSettings

/// The options that every command accepts, and the settings' flags.
enum GlobalOptions {
    static let config = CommandOption.optional("config", .file(), "The settings file (YAML).")
    static let quiet = CommandOption.flag("quiet", short: "q", "Suppress progress and remarks on standard error.")
    static let noColor = CommandOption.flag("no-color", "No colours; NO_COLOR in the environment does the same.")

    static let all = [config.declaration, quiet.declaration, noColor.declaration].map { $0.inGroup("Global options") }

    /// The flags of all settings, for a command that uses some of them; empty for one that uses none.
    static func settings(used: UsedSettings) -> [OptionDeclaration] {
        guard !used.paths.isEmpty else { return [] }
        return zip(SettingsTable.all, settings).map { setting, option in
            used.includes(setting.path) ? option : option.unused()
        }
    }

    /// The settings' flags; the settings themselves check the values.
    private static let settings = SettingsTable.all.map { setting in
        let traits = setting.traits
        let value = ValueType<String>(
            traits.placeholder, allowed: traits.placeholder, choices: traits.choices, isFile: traits.isFile
        ) { traits.isSwitch && !traits.choices.contains($0) ? nil : $0 }.traits
        return OptionDeclaration(
            setting.flag, form: traits.isSwitch ? .toggle(value) : .value(value),
            isRepeatable: traits.shape.isRepeatable, standard: setting.shownStandard,
            group: "Settings (see docs/SETTINGS.md; also in the file and the environment)", setting.summary)
    }
}
