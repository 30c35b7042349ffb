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
        return zip(SettingsFlag.all, settings).map { flag, option in
            used.includes(flag.path) ? option : option.unused()
        }
    }

    /// The settings' flags; the settings themselves check the values.
    private static let settings = SettingsFlag.all.map { flag in
        let traits = ValueType<String>(
            flag.placeholder, allowed: flag.placeholder, choices: flag.choices, isFile: flag.isFile, parse: { $0 }
        ).traits
        let toggle = ValueType<String>(
            flag.placeholder, allowed: flag.placeholder, choices: flag.choices,
            parse: { flag.choices.contains($0) ? $0 : nil }
        ).traits
        return OptionDeclaration(
            flag.name, form: flag.isSwitch ? .toggle(toggle) : .value(traits), isRepeatable: flag.isRepeatable,
            standard: flag.standard, group: "Settings (see docs/SETTINGS.md; also in the file and the environment)",
            flag.summary)
    }
}
