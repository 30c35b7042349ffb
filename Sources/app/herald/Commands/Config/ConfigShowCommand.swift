import HeraldCommandLine
import HeraldCore
import HeraldEvents
import HeraldSettings
import HeraldText

/// `herald config show`: every setting's effective value and where it came from.
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
        let format = invocation.parsed[OutputFormat.option]
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

    /// Beside the longest name of a setting and a place it leaves a hundred columns.
    private static let valueWidth = 50

    /// The place without what the name of the setting says already.
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
