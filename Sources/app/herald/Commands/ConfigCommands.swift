import HeraldCommandLine
import HeraldCore
import HeraldEvents
import HeraldSettings
import HeraldText

enum ConfigCheckCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "check", "Check the settings as the worker does, and report all mistakes at once.",
        details: "Reads secrets and TLS files, and connects to nothing. The exit status is 78 when anything is wrong.",
        examples: [.init("herald config check --config herald.yaml", "Check a file, the environment and flags.")])
    static let usedSettings: UsedSettings = .all

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try invocation.settings(requiring: [.kafka, .backend]).checkLastWord()
        invocation.console.remark("The settings are right.")
        return .done
    }
}

enum ConfigShowCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "show", "Show every setting's effective value and where it came from.",
        details:
            "Secrets are shown as ***; backend.statuses is shown as the whole table in force. It does not check "
            + "whether required settings are set; herald config check does.",
        options: [OutputFormat.option],
        examples: [.init("herald config show --config herald.yaml -o json", "The settings as JSON.")])
    static let usedSettings: UsedSettings = .all

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let loaded = try invocation.loadedSettings()
        let format = invocation.format
        var writer = RecordWriter(
            format, columns: [.init("setting"), .init("value", limit: valueWidth), .init("from")],
            console: invocation.console)
        let statuses = loaded.settings.statusTable
        for setting in loaded.effective {
            var value = setting.value
            if setting.path == "backend.statuses" { value = Self.value(of: statuses) }
            let place = format == .table ? Self.brief(setting.place) : setting.place.description
            try writer.write([.string(setting.path), value, .string(place)])
        }
        try writer.finish()
        return .done
    }

    /// With the longest setting's name and source, this makes a hundred columns.
    private static let valueWidth = 50

    /// The source, without the part that repeats the setting's name.
    private static func brief(_ place: SettingsPlace) -> String {
        switch place {
        case .standard: "default"
        case .file(_, let line, let column): "file:\(line):\(column)"
        case .environment: "environment"
        case .flag: "flag"
        }
    }

    private static func value(of table: StatusTable) -> JSONValue {
        .object(
            table.ranges.map { range in
                let (first, last) = (range.statuses.lowerBound, range.statuses.upperBound)
                return JSONValue.Member(
                    first == last ? "\(first)" : "\(first)-\(last)", .string(range.meaning.rawValue))
            })
    }
}

enum ConfigDocsCommand: HeraldCommand {
    static let declaration = CommandDeclaration("docs", "Print the documentation of all settings as Markdown.")
    static let usedSettings: UsedSettings = .none

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try invocation.console.output.write(Settings.document)
        return .done
    }
}

enum ConfigSchemaCommand: HeraldCommand {
    static let declaration = CommandDeclaration("schema", "Print the JSON Schema of the settings file, for editors.")
    static let usedSettings: UsedSettings = .none

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        try invocation.console.print(Settings.schema.pretty)
        return .done
    }
}
