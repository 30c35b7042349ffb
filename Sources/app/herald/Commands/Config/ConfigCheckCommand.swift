import HeraldCommandLine
import HeraldSettings

/// `herald config check`: everything that the worker would refuse, at once.
enum ConfigCheckCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "check", "Check the settings as the worker does, and report all mistakes at once.",
        details: "Reads secrets and TLS files, and connects to nothing. The exit status is 78 when anything is wrong.",
        examples: [.init("herald config check --config herald.yaml", "Check a file, the environment and flags.")])
    static let usedSettings: UsedSettings = .all

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        _ = try invocation.settings(requiring: [.kafka, .backend])
        invocation.console.remark("The settings are right.")
        return .done
    }
}
