import HeraldCommandLine

/// Every command, in the order of `herald --help`.
///
/// A new command is one file in Commands and one line here.
enum CommandTable {
    private enum Entry: Sendable {
        case command(any HeraldCommand.Type)
        case group(String, String, [any HeraldCommand.Type])
    }

    private static let entries: [Entry] = [
        .command(WorkerCommand.self),
        .command(FeedbackCommand.self),
        .command(SendCommand.self),
        .command(RegisterCommand.self),
        .command(DemoCommand.self),
        .command(BackendCommand.self),
        .command(HubCommand.self),
        .command(SandboxCommand.self),
        .command(PublishCommand.self),
        .group(
            "campaign", "Notify a list of recipients, each of them once.",
            [
                CampaignTestCommand.self, CampaignStartCommand.self, CampaignRunCommand.self,
                CampaignStatusCommand.self,
                CampaignPauseCommand.self,
                CampaignResumeCommand.self,
                CampaignCancelCommand.self, CampaignFinishCommand.self, CampaignReportCommand.self,
            ]),
        .group(
            "dlq", "List, show and replay dead letters.",
            [
                DeadLetterListCommand.self, DeadLetterShowCommand.self, DeadLetterReplayCommand.self,
                DeadLetterExportCommand.self, DeadLetterResolveCommand.self,
            ]),
        .group(
            "preferences", "Show and change what users have opted out of.",
            [
                PreferencesShowCommand.self, PreferencesSetCommand.self, PreferencesImportCommand.self,
                PreferencesForgetCommand.self, PreferencesTryCommand.self,
            ]),
        .command(RecallCommand.self),
        .command(FindCommand.self),
        .command(ExplainCommand.self),
        .command(AccountCommand.self),
        .command(ConsoleCommand.self),
        .group(
            "topics", "Compare Herald's topics with the settings, create and change them.",
            [TopicsPlanCommand.self, TopicsApplyCommand.self, TopicsCheckCommand.self]),
        .group(
            "offsets", "Show where the workers' group stands, restore lost offsets, and skip lost records.",
            [OffsetsShowCommand.self, OffsetsRestoreCommand.self, OffsetsSkipLostCommand.self]),
        .command(InitCommand.self),
        .command(DoctorCommand.self),
        .group(
            "config", "Check and show the settings.",
            [ConfigShowCommand.self, ConfigCheckCommand.self, ConfigDocsCommand.self, ConfigSchemaCommand.self]),
        .command(HelpCommand.self),
        .command(ManCommand.self),
        .command(CompletionCommand.self),
    ]

    static let root = CommandDeclaration(
        "herald", "Delivers push notifications from Kafka events, and records every outcome.",
        options: GlobalOptions.all,
        examples: [
            .init("herald demo", "See every outcome, with an embedded broker and backend."),
            .init("herald init", "Make herald.yaml."),
            .init("herald topics apply --config herald.yaml", "Create the topics."),
            .init("herald doctor --config herald.yaml", "Check everything that a worker needs."),
            .init("herald worker --config herald.yaml", "Deliver, until SIGTERM."),
            .init("herald publish --user ann --pns apns,gcm --message 'Hello' --wait 30s", "Publish an event."),
            .init("herald dlq list", "See what failed, and what to do."),
            .init("herald find --user ann", "See what became of a user's events."),
            .init("herald account --since 22:00", "See that nothing was lost."),
            .init("herald console", "See all of it in a browser."),
        ],
        environment: [
            .init(
                "HERALD_…",
                "A setting: its path in upper snake case, so backend.url is HERALD_BACKEND_URL. It overrides the "
                    + "file; a flag overrides it."),
            .init("NO_COLOR", "No colours if set."),
            .init("TERM", "No colours if it is dumb."),
            .init("TMPDIR", "Where a command stores standard input while it checks it; /tmp if not set."),
            .init("XDG_STATE_HOME", "Where herald register keeps the ids of registrations; ~/.local/state if not set."),
            .init("SUDO_USER, USER", "The name in the audit topic; SUDO_USER overrides the account's own name."),
        ],
        subcommands: entries.map { entry in
            switch entry {
            case .command(let command): declaration(of: command)
            case .group(let name, let summary, let commands):
                CommandDeclaration(name, summary, subcommands: commands.map(declaration))
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

    static func command(at words: [String]) -> (any HeraldCommand.Type)? { commands[words] }

    private static func declaration(of command: any HeraldCommand.Type) -> CommandDeclaration {
        command.declaration.adding(GlobalOptions.settings(used: command.usedSettings))
    }
}
