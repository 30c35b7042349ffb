import HeraldCommandLine
import HeraldSettings

enum InitCommand: HeraldCommand {
    private static let output = CommandOption.standard(
        "output", .file(), default: "herald.yaml", "The file to write; those of typed secrets get names beside it.")
    private static let isForced = CommandOption.flag("force", "Replace the file, and those of typed secrets.")
    private static let skipsChecks = CommandOption.flag(
        "skip-checks", "Try neither brokers nor backend, for a file that is used elsewhere.")
    private static let isUnattended = CommandOption.flag(
        "yes", short: "y", "Do not ask; what no flag says is as by default, and the rest has to be said.")

    static let declaration = CommandDeclaration(
        "init", "Make a settings file: five questions, each answer tried before it is written.",
        details:
            "It asks for brokers, login, backend (or Azure Notification Hub), push services and group, tries each answer "
            + "as herald doctor does, and says what to do where one does not hold. What flags or the environment say is "
            + "not asked, and is written too, whatever setting it is. A typed secret is not shown, and goes to a file that "
            + "only its owner can read. At the end it shows doctor's verdict on the file, and the next command. It makes "
            + "no topic and notifies nobody.\n\n"
            + "Without a terminal, or with --yes, all comes from flags and the environment, and nothing is written "
            + "unless it holds. The exit status is 3 if the file is written and something must be fixed first, topics "
            + "that are missing apart; 1 or 5 if what was said without a terminal does not hold, 78 if the settings are "
            + "wrong, 4 if the questions were left unanswered; nothing is written then.",
        options: [output, isForced, skipsChecks, isUnattended],
        examples: [
            .init("herald init", "Ask, and write herald.yaml."),
            .init(
                "herald init --kafka-bootstrap-servers kafka:9092 --backend-url https://notify.example.org "
                    + "--backend-auth-username herald --backend-auth-password-file /run/secrets/backend-password --yes",
                "Without a question."),
            .init("herald init --output /etc/herald/herald.yaml --force", "Replace the Debian package's file."),
        ])
    static let usedSettings: UsedSettings = .all

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let parsed = invocation.parsed
        guard parsed[GlobalOptions.config] == nil else {
            throw parsed.mistake("--config names a file to read, and init makes one: --output")
        }
        let console = invocation.console
        let isTerminal = console.isInputTerminal && console.error.isTerminal
        var run = try InitRun(
            invocation, output: parsed[output], isForced: parsed[isForced], skipsChecks: parsed[skipsChecks],
            isAttended: isTerminal && !parsed[isUnattended])
        return try run.run()
    }
}
