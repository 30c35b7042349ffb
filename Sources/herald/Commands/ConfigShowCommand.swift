import HeraldCommandLine
import HeraldCore
import HeraldSettings
import HeraldText

/// `herald config show`: every setting's effective value and where it came from.
enum ConfigShowCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "show", "Show every setting's effective value and where it came from.",
        details:
            "Secrets are shown as ***; backend.statuses shows the whole table that is in force. What a command needs "
            + "beyond the defaults is not asked for here; herald config check does that.",
        options: [OutputFormat.option.declaration],
        examples: [.init("herald config show --config herald.yaml -o json", "The settings as JSON.")])
    static let takesSettings = true

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let loaded = try invocation.loadedSettings()
        var writer = RecordWriter(
            invocation.parsed[OutputFormat.option],
            columns: [.init("setting"), .init("value"), .init("from")], console: invocation.console)
        let statuses = loaded.settings.statusTable
        for setting in loaded.effective {
            var value = setting.value
            if setting.path == "backend.statuses" { value = Self.value(of: statuses) }
            try writer.write([.string(setting.path), value, .string(setting.place.description)])
        }
        try writer.finish()
        return .done
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
