import HeraldSettings

/// Loads settings from text, as from a file named `herald.yaml`.
func load(
    _ yaml: String = "", environment: [String: String] = [:], flags: [String: [String]] = [:],
    requiring needs: SettingsNeeds = []
) throws(SettingsError) -> LoadedSettings {
    let file = SettingsSources.File.bytes(Array(yaml.utf8), name: "herald.yaml")
    return try Settings.load(SettingsSources(file: file, environment: environment, flags: flags), requiring: needs)
}

/// The mistakes found while loading, one line each; empty when there are none.
func mistakes(
    _ yaml: String = "", environment: [String: String] = [:], flags: [String: [String]] = [:],
    requiring needs: SettingsNeeds = []
) -> [String] {
    do {
        _ = try load(yaml, environment: environment, flags: flags, requiring: needs)
        return []
    } catch {
        return error.mistakes.map(\.description)
    }
}

/// The mistakes of `path: value` given as a flag.
func flagMistakes(_ flag: String, _ values: String...) -> [String] { mistakes(flags: [flag: values]) }
