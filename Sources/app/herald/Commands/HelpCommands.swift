import HeraldCommandLine
import HeraldText

enum HelpCommand: HeraldCommand {
    private static let words = CommandOption.repeated(
        "COMMAND", .text("COMMAND"), "The command, such as config show.")

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

enum CompletionCommand: HeraldCommand {
    private static let shell = CommandOption.required(
        "SHELL", .choice(Completion.Shell.self, "SHELL"), "The shell to print it for.")
    private static let words = CommandOption.repeated(
        "WORD", .text("WORD"),
        "Behind --, as the script asks: the words typed so far; print what may stand for the last one.")

    static let declaration = CommandDeclaration(
        "completion", "Print a shell's completion script.", arguments: [shell, words],
        examples: [.init("source <(herald completion bash)", "Complete in this shell.")])
    static let usedSettings: UsedSettings = .none

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (shell, words) = (invocation.parsed[shell], invocation.parsed[words])
        try invocation.console.output.write(
            words.isEmpty
                ? Completion.script(of: CommandTable.root.name, for: shell)
                : Completion.answer(to: words, of: CommandTable.root, in: shell))
        return .done
    }
}
