import HeraldText

/// What to say about names that are no settings.
enum UnknownSetting {
    /// Behind "unknown setting": the nearest key of the section, else the same key elsewhere, else all keys.
    static func suggestion(forKey key: String, in section: String, keys: [String]) -> String {
        if let nearest = Suggestion.nearest(to: key, in: keys) {
            let path = section.isEmpty ? nearest : "\(section).\(nearest)"
            return "; did you mean \(path)?"
        }
        let elsewhere = SettingsTable.all.map(\.path).filter { $0.hasSuffix("." + key) }
        if elsewhere.count == 1 { return "; did you mean \(elsewhere[0])?" }
        return "; allowed here: \(keys.joined(separator: ", "))"
    }

    /// Behind an unknown variable: the nearest one.
    static func suggestion(forVariable variable: String) -> String {
        Suggestion.nearest(to: variable, in: SettingsTable.all.map(\.variable)).map { "; did you mean \($0)?" } ?? ""
    }
}
