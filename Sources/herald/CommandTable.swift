import HeraldCommandLine

/// Every command, in the order of `herald --help`.
///
/// A new command is one file in Commands and one line here.
enum CommandTable {
    /// A command, or a group of them.
    private enum Entry: Sendable {
        case command(any HeraldCommand.Type)
        case group(String, String, [any HeraldCommand.Type])
    }

    private static let entries: [Entry] = [
        .command(WorkerCommand.self),
        .command(SendCommand.self),
        .command(RegisterCommand.self),
        .command(DemoCommand.self),
        .command(BackendCommand.self),
        .command(PublishCommand.self),
        .group(
            "campaign", "Notify a list of recipients, each of them once.",
            [
                CampaignStartCommand.self, CampaignStatusCommand.self, CampaignPauseCommand.self,
                CampaignResumeCommand.self,
                CampaignCancelCommand.self, CampaignReportCommand.self,
            ]),
        .group(
            "dlq", "Look at dead letters, and replay them.",
            [
                DeadLetterListCommand.self, DeadLetterShowCommand.self, DeadLetterReplayCommand.self,
                DeadLetterExportCommand.self, DeadLetterResolveCommand.self,
            ]),
        .group(
            "topics", "Make Herald's topics as the settings want them.",
            [TopicsPlanCommand.self, TopicsApplyCommand.self, TopicsCheckCommand.self]),
        .command(DoctorCommand.self),
        .group(
            "config", "Look at the settings.",
            [ConfigShowCommand.self, ConfigCheckCommand.self, ConfigDocsCommand.self, ConfigSchemaCommand.self]),
        .command(HelpCommand.self),
        .command(ManCommand.self),
        .command(CompletionCommand.self),
    ]

    /// The program's declaration.
    static let root = CommandDeclaration(
        group: "herald", "Delivers push notifications from Kafka events, and records every outcome.",
        options: GlobalOptions.declarations,
        subcommands: entries.map { entry in
            switch entry {
            case .command(let command): declaration(of: command)
            case .group(let name, let summary, let commands):
                CommandDeclaration(group: name, summary, subcommands: commands.map(declaration))
            }
        })

    private static let commands: [[String]: any HeraldCommand.Type] = {
        var commands: [[String]: any HeraldCommand.Type] = [:]
        for entry in entries {
            switch entry {
            case .command(let command): commands[[command.declaration.name]] = command
            case .group(let name, _, let members):
                for command in members { commands[[name, command.declaration.name]] = command }
            }
        }
        return commands
    }()

    /// The command of those words; nil when there is none.
    static func command(at words: [String]) -> (any HeraldCommand.Type)? { commands[words] }

    private static func declaration(of command: any HeraldCommand.Type) -> CommandDeclaration {
        command.takesSettings ? command.declaration.adding(GlobalOptions.settings) : command.declaration
    }
}
