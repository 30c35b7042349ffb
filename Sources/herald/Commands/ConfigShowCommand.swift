import HeraldCommandLine
import HeraldSettings
import HeraldText

/// `herald config show`: every setting's effective value and where it came from.
enum ConfigShowCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "show", "Show every setting's effective value and where it came from.",
        details: "Secrets are shown as ***. What a command needs beyond the defaults is not asked for here; "
            + "herald config check does that.",
        options: [OutputFormat.option.declaration],
        examples: [.init("herald config show --config herald.yaml -o json", "The settings as JSON.")])
    static let takesSettings = true

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let loaded = try invocation.loadedSettings()
        var writer = RecordWriter(
            invocation.parsed[OutputFormat.option],
            columns: [.init("setting"), .init("value"), .init("from")], console: invocation.console)
        for setting in loaded.effective {
            try writer.write([.string(setting.path), setting.value, .string(setting.place.description)])
        }
        try writer.finish()
        return .done
    }
}
