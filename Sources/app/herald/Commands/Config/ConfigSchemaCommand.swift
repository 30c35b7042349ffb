import HeraldCommandLine
import HeraldSettings
import HeraldText

/// `herald config schema`: docs/schemas/settings.schema.json.
enum ConfigSchemaCommand: HeraldCommand {
    static let declaration = CommandDeclaration("schema", "Print the JSON Schema of the settings file, for editors.")
    static let usedSettings: UsedSettings = .none

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try invocation.console.print(Settings.schema.pretty)
        return .done
    }
}
