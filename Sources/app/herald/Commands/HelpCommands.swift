import HeraldCommandLine
import HeraldText

/// `herald help`: the same as `--help` after a command.
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

/// `herald man`: prints the manual page, herald(1).
enum ManCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "man", "Print the manual page.",
        examples: [.init("herald man | man -l -", "Read it.")])
    static let usedSettings: UsedSettings = .none

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try invocation.console.output.write(ManualPage.render(CommandTable.root, version: Herald.version))
        return .done
    }
}

/// `herald completion`: prints a shell's completion script.
enum CompletionCommand: HeraldCommand {
    private static let shell = CommandArgument.required(
        .choice(CompletionScript.Shell.self, "SHELL"), "The shell to print it for.")

    static let declaration = CommandDeclaration(
        "completion", "Print a shell's completion script.", arguments: [shell],
        examples: [.init("source <(herald completion bash)", "Complete in this shell.")])
    static let usedSettings: UsedSettings = .none

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let script = CompletionScript.render(CommandTable.root, for: invocation.parsed[shell])
        try invocation.console.output.write(script)
        return .done
    }
}
