import HeraldCommandLine
import HeraldText

/// `herald help`: the same as `--help` behind a command.
enum HelpCommand: HeraldCommand {
    private static let words = CommandArgument.repeated(.text("COMMAND"), "The command, such as config show.")

    static let declaration = CommandDeclaration("help", "Show the help of a command.", arguments: [words])
    static let usedSettings: UsedSettings = .none

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let words = invocation.parsed[words]
        guard let path = CommandPath(root: CommandTable.root).descending(through: words) else {
            throw UsageError("no command \(SafeText.quoted(words.joined(separator: " ")))", command: "herald")
        }
        let output = invocation.console.output
        try output.write(HelpPage.render(path, width: output.width))
        return .done
    }
}
