import HeraldText

extension SettingsTable {
    /// The settings that most installations adjust eventually, named in a new settings file; each has a default.
    static let worthKnowing: Set = [
        "topics.requests", "topics.partitions", "topics.retention", "backend.timeout", "delivery.guarantee",
        "delivery.maxInFlight", "delivery.lanes", "retry.delays", "retry.maxElapsed", "log.level", "admin.listen",
    ]
}

extension LoadedSettings {
    /// These settings as a file, each below its description: the settings that were set, and, commented out, the
    /// defaults of others worth knowing.
    ///
    /// There must be no ``openSecrets``.
    ///
    /// - Parameter heading: The comment at its top, a line each.
    package func file(under heading: [String]) -> String {
        var text = SettingsFileText(heading)
        for (section, summary) in SettingsTable.sections {
            let mine = zip(SettingsTable.all, effective).filter { setting, effective in
                let isShown = effective.place != .standard || SettingsTable.worthKnowing.contains(setting.path)
                return isShown && setting.path.hasPrefix(section + ".")
            }
            guard !mine.isEmpty else { continue }
            text.begin(section, summary)
            for (setting, effective) in mine { text.write(effective, setting.summary) }
        }
        return text.lines.joined(separator: "\n") + "\n"
    }

    /// The secrets set directly instead of by a file: a settings file would expose them.
    package var openSecrets: [SettingsMistake] {
        zip(SettingsTable.all, effective).compactMap { setting, effective in
            guard effective.place != .standard, effective.value.compact.contains(Secret.mask) else { return nil }
            let companion = SettingsTable.setting(setting.path + "File")
            return SettingsMistake(
                place: effective.place, path: setting.path,
                message: "holds a secret, which a settings file should not; "
                    + (companion.map { "put it into a file, and name that with --\($0.flag)" }
                        ?? "docs/SETTINGS.md has settings that name a file with it"))
        }
    }
}

/// The lines of a settings file.
private struct SettingsFileText {
    private static let width = 100

    private(set) var lines: [String] = []
    /// The sections that contain the next setting, the outermost first.
    private var sections: [Substring] = []

    init(_ heading: [String]) {
        lines = heading.map { "# \($0)" }
    }

    mutating func begin(_ section: String, _ summary: String) {
        lines.append("")
        comment(summary, depth: 0)
        lines.append("\(section):")
        sections = [section[...]]
    }

    mutating func write(_ setting: EffectiveSetting, _ summary: String) {
        let path = setting.path.split(separator: ".")
        let own = path.dropLast()
        for depth in own.indices where depth >= sections.count || sections[depth] != own[depth] {
            lines.append(Self.indentation(depth) + "\(own[depth]):")
        }
        sections = Array(own)
        comment(summary, depth: own.count)
        let mark = setting.place == .standard ? "# " : ""
        for line in Self.lines(path[own.count], setting.value) {
            lines.append(Self.indentation(own.count) + mark + line)
        }
    }

    private mutating func comment(_ text: String, depth: Int) {
        let start = Self.indentation(depth) + "# "
        lines += Wrapping.lines(text, width: Self.width - start.count).map { start + $0 }
    }

    private static func indentation(_ depth: Int) -> String { String(repeating: "  ", count: depth) }

    /// A key with its value; a map's entries have lines of their own.
    private static func lines(_ key: Substring, _ value: JSONValue) -> [String] {
        guard case .object(let members) = value, !members.isEmpty else {
            return ["\(key): \(flow(value, isInner: false))"]
        }
        return ["\(key):"] + members.map { "  \(scalar($0.name, isInner: true)): \(flow($0.value, isInner: false))" }
    }

    /// A value on one line.
    ///
    /// - Parameter isInner: Whether it stands within brackets, where more characters have a meaning.
    private static func flow(_ value: JSONValue, isInner: Bool) -> String {
        switch value {
        case .null, .bool, .integer, .number: value.compact
        case .string(let text): scalar(text, isInner: isInner)
        case .array(let values): "[" + values.map { flow($0, isInner: true) }.joined(separator: ", ") + "]"
        case .object(let members):
            "{"
                + members.map { "\(scalar($0.name, isInner: true)): \(flow($0.value, isInner: true))" }
                .joined(separator: ", ") + "}"
        }
    }

    /// Plain text where every YAML reader takes it for text, otherwise quoted with JSON's escapes.
    private static func scalar(_ text: String, isInner: Bool) -> String {
        let form = isInner ? /[A-Za-z0-9\/._+][A-Za-z0-9\/._+@\-]*/ : /[A-Za-z0-9\/._+:][A-Za-z0-9\/._+@:\-]*/
        let isPlain = text.wholeMatch(of: form) != nil
        let isWord = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "."].contains(text.lowercased())
        let isText = isPlain && !text.hasSuffix(":") && !isWord && Double(text) == nil
        return isText ? text : JSONValue.string(text).compact
    }
}
