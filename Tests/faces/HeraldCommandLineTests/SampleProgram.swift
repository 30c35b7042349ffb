import HeraldCommandLine

/// A small program that uses every kind of declaration.
enum SampleProgram {
    static let user = CommandOption.required("user", .text("USER"), "Whom to notify; it's the key.")
        .called(["recipient"])
    static let services = CommandOption.optional(
        "pns", .commaSeparated("NAMES").completing(["apns", "gcm", "wns"]), "Push services.")
    static let count = CommandOption.standard("count", short: "n", .wholeNumber(1...9), default: "3", "How many.")
    static let wait = CommandOption.optional("wait", .duration(), "How long to wait.")
    static let once = CommandOption.flag("once", short: "1", "Only once.")
    static let tags = CommandOption.repeated("tag", short: "t", .text("TAG"), "A tag.")
    static let file = CommandOption.required("FILE", .file(), "What to read.")
    static let others = CommandOption.repeated(
        "FORMAT", .choice(OutputFormat.self, "FORMAT"), "Other formats.")
    static let config = CommandOption.optional("config", .file(), "The settings.")
    static let toggle = OptionDeclaration(
        "static",
        form: .toggle(
            ValueType("BOOL", allowed: "true or false", choices: ["true", "false"]) {
                ["true", "false"].contains($0) ? $0 : nil
            }
            .traits), group: "Settings", "Stay.")

    static let group = CommandOption.repeated(
        "group", .text("FIELD=VALUE").completing(["reason=expired", "reason=rejected", "status="]), "A group.")
    static let unheeded = OptionDeclaration(
        "fuse", form: .flag, group: "Settings", "Does nothing here."
    ).unused()

    static let root = CommandDeclaration(
        "sample", "Does things.", options: [config.declaration.inGroup("Global options")],
        examples: [.init("sample topics plan", "Looks first.")],
        environment: [.init("SAMPLE_HOME", "Where everything is.")],
        subcommands: [
            CommandDeclaration(
                "send", "Sends \\ it.", details: "First paragraph.\n\n.Second paragraph with ….",
                arguments: [file, others],
                options: [user, services, count, wait, once, tags, group, OutputFormat.option, toggle, unheeded],
                examples: [.init("sample send --user u f", "Sends f: 'quoted'.")]),
            CommandDeclaration(
                "topics", "Looks at topics.",
                subcommands: [
                    CommandDeclaration("plan", "Shows what differs."), CommandDeclaration("apply", "Mends it."),
                ]),
        ])

    static func parse(_ words: String...) throws(UsageError) -> CommandLineParser.Request {
        try CommandLineParser.parse(words, root: root)
    }

    /// The message of the usage error; `nil` when the words are understood.
    static func mistake(_ words: [String]) -> String? {
        do {
            _ = try CommandLineParser.parse(words, root: root)
            return nil
        } catch {
            return error.message
        }
    }
}
