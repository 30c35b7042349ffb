import HeraldCommandLine

/// `herald completion`: a shell's completion script.
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
