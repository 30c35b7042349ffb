import HeraldCommandLine
import HeraldSettings
import HeraldText

/// One command of `herald`: its declaration and its action.
///
/// ``CommandTable`` lists them all.
protocol HeraldCommand: SendableMetatype {
    static var declaration: CommandDeclaration { get }

    /// The settings it uses; it accepts the flags of all settings, unless it uses none.
    static var usedSettings: UsedSettings { get }

    /// Whether it runs until it is stopped, and waits for brokers without a limit.
    static var isService: Bool { get }

    /// Runs the command.
    ///
    /// May throw ``CommandFailure``, ``UsageError``, `SettingsError` or anything else (status 1).
    static func run(_ invocation: Invocation) async throws -> ExitStatus
}

extension HeraldCommand {
    static var isService: Bool { false }
}

/// One run of a command: the parsed command line and its context.
struct Invocation: Sendable {
    let parsed: ParsedCommand
    let console: Console
    let environment: [String: String]
    /// Whether its questions to the brokers have a deadline.
    var hasDeadline = true

    /// The settings of file, environment and flags, with the command's own values for some flags; prints their warnings on
    /// standard error.
    ///
    /// Throws all mistakes at once, including settings that `needs` requires.
    func settings(requiring needs: SettingsNeeds = [], replacing flags: [String: [String]] = [:]) throws -> Settings {
        try loadedSettings(requiring: needs, replacing: flags).settings
    }

    func loadedSettings(
        requiring needs: SettingsNeeds = [], replacing flags: [String: [String]] = [:]
    ) throws -> LoadedSettings {
        let loaded = try readSettings(requiring: needs, replacing: flags)
        if hasDeadline, needs.contains(.kafka) { try QuestionWatch.begin(loaded.settings, console) }
        for warning in loaded.warnings + (hasDeadline ? [] : loaded.sharedFiles) {
            // Nobody typed what the command itself sets.
            if case .flag(let name) = warning.place, flags[name] != nil { continue }
            console.complain("warning: \(warning)")
        }
        return loaded
    }

    /// The format of the output, of a command with ``OutputFormat/option``.
    var format: OutputFormat { parsed[OutputFormat.option] }

    /// The settings file that the command line names.
    var configuration: String? { parsed[GlobalOptions.config] }

    func write(_ records: [[JSONValue]], _ columns: [RecordWriter.Column]) throws {
        try RecordWriter.write(records, columns, as: format, to: console)
    }

    /// The settings, with warnings left to the caller; reads the file again each time.
    func readSettings(
        requiring needs: SettingsNeeds, replacing flags: [String: [String]] = [:]
    ) throws -> LoadedSettings {
        let sources = SettingsSources(
            file: parsed[GlobalOptions.config].map { .path($0) }, environment: environment,
            flags: parsed.options.merging(flags) { $1 })
        return try Settings.load(sources, requiring: needs) { LibraryChecks($0, requiring: needs).mistakes }
    }

    /// The directory for a copy of standard input.
    var temporaryDirectory: String {
        let directory = environment["TMPDIR", default: ""]
        return directory.isEmpty ? "/tmp" : directory
    }
}
