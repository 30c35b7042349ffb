/// A setting's flag, as declared for the command line.
package struct SettingsFlag: Sendable {
    /// The flag without its dashes, `retry-max-elapsed`.
    package let name: String
    /// The setting, `retry.maxElapsed`.
    package let path: String
    package let summary: String
    package let placeholder: String
    /// The only values, if they form a closed set.
    package let choices: [String]
    /// The default; nil without one.
    package let standard: String?
    /// Whether it may be given several times, each adding to the list or map.
    package let isRepeatable: Bool
    /// Whether the flag alone means `true`.
    package let isSwitch: Bool
    /// Whether its value is the path of a file.
    package let isFile: Bool

    /// The flags of all settings, in the order of the documentation.
    package static let all = SettingsTable.all.map(Self.init)

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
