import HeraldCommandLine
import HeraldSettings

/// One command of `herald`: its declaration and what it does.
///
/// ``CommandTable`` lists them all.
protocol HeraldCommand: SendableMetatype {
    /// Name, arguments, options and words for help.
    static var declaration: CommandDeclaration { get }

    /// The settings that it uses; it understands the flags of all, unless it uses none.
    static var usedSettings: UsedSettings { get }

    /// Whether it runs until it is told to stop, and waits for brokers as long as it takes.
    static var isService: Bool { get }

    /// Does it.
    ///
    /// May throw ``CommandFailure``, ``UsageError``, `SettingsError` or anything else (status 1).
    static func run(_ invocation: Invocation) async throws -> ExitStatus
}

extension HeraldCommand {
    static var isService: Bool { false }
}

/// One run of a command: what was asked for, and the context around it.
struct Invocation: Sendable {
    /// The command line; `parsed[option]` reads it.
    let parsed: ParsedCommand
    /// Where to write, and whom to ask.
    let console: Console
    /// The process's environment.
    let environment: [String: String]
    /// Whether what it asks the brokers has a deadline.
    var hasDeadline = true

    /// The settings of file, environment and flags, with warnings said on standard error.
    ///
    /// Throws all mistakes at once, those of what `needs` demands included.
    func settings(requiring needs: SettingsNeeds = []) throws -> Settings {
        try loadedSettings(requiring: needs).settings
    }

    /// The same with the command's own values in place of some, by the names of their flags.
    func settings(requiring needs: SettingsNeeds, replacing flags: [String: [String]]) throws -> Settings {
        try readSettings(requiring: needs, replacing: flags).settings
    }

    /// The same, with where each value came from.
    func loadedSettings(requiring needs: SettingsNeeds = []) throws -> LoadedSettings {
        let loaded = try readSettings(requiring: needs)
        if hasDeadline, needs.contains(.kafka) { try QuestionWatch.begin(loaded.settings, console) }
        for warning in loaded.warnings + (hasDeadline ? [] : loaded.sharedFiles) {
            console.complain("warning: \(warning)")
        }
        return loaded
    }

    /// The same, with warnings for the caller to say; each time from the file as it is now.
    func readSettings(
        requiring needs: SettingsNeeds, replacing flags: [String: [String]] = [:]
    ) throws -> LoadedSettings {
        let sources = SettingsSources(
            file: parsed[GlobalOptions.config].map { .path($0) }, environment: environment,
            flags: parsed.options.merging(flags) { $1 })
        return try Settings.load(sources, requiring: needs) { LibraryChecks.mistakes($0, requiring: needs) }
    }

    /// Where a copy of standard input goes.
    var temporaryDirectory: String {
        let directory = environment["TMPDIR", default: ""]
        return directory.isEmpty ? "/tmp" : directory
    }
}
