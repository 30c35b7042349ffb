import HeraldCommandLine
import HeraldSettings

/// `herald config docs`: docs/SETTINGS.md.
enum ConfigDocsCommand: HeraldCommand {
    static let declaration = CommandDeclaration("docs", "Print the documentation of all settings as Markdown.")
    static let usedSettings: UsedSettings = .none

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try invocation.console.output.write(Settings.document)
        return .done
    }
}
