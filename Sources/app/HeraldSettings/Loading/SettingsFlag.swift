/// A setting's flag, as the command line declares it.
public struct SettingsFlag: Sendable {
    /// The flag without its dashes, `retry-max-elapsed`.
    public let name: String
    /// The setting, `retry.maxElapsed`.
    public let path: String
    /// What it does.
    public let summary: String
    /// The value's name in help.
    public let placeholder: String
    /// The only values, when they are a closed set.
    public let choices: [String]
    /// The default; nil when there is none.
    public let standard: String?
    /// Whether it may be given several times, each adding to the list or map.
    public let isRepeatable: Bool
    /// Whether the flag alone means `true`.
    public let isSwitch: Bool
    /// Whether its value is the path of a file.
    public let isFile: Bool

    /// The flags of all settings, in the order of the documentation.
    public static let all = SettingsTable.all.map(Self.init)

    private init(_ setting: any AnySetting) {
        name = setting.flag
        path = setting.path
        summary = setting.summary
        placeholder = setting.traits.placeholder
        choices = setting.traits.choices
        standard = setting.standardText.flatMap { $0.isEmpty ? nil : $0 }
        isRepeatable = setting.traits.shape.isRepeatable
        isSwitch = setting.traits.choices == ["true", "false"]
        isFile = setting.traits.placeholder == "FILE"
    }
}

extension SettingNode.Shape {
    fileprivate var isRepeatable: Bool {
        switch self {
        case .scalar: false
        case .list, .map, .weightedList: true
        }
    }
}
