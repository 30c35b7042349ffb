import HeraldCommandLine

/// `herald man`: the manual page, herald(1).
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
