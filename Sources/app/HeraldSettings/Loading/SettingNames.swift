import HeraldText

/// A setting's names in the three places that can set it.
enum SettingNames {
    static let variablePrefix = "HERALD_"

    /// `retry.maxElapsed` → `HERALD_RETRY_MAX_ELAPSED`.
    static func variable(_ path: String) -> String {
        variablePrefix + words(path).joined(separator: "_").uppercased()
    }

    /// `retry.maxElapsed` → `retry-max-elapsed`.
    static func flag(_ path: String) -> String { words(path).joined(separator: "-").lowercased() }

    /// Whether Kubernetes defines such a variable for a service called Herald (`HERALD_BACKEND_SERVICE_HOST`,
    /// `HERALD_PORT_9464_TCP_ADDR`), which makes it no mistake of a person.
    static func isServiceLink(_ variable: String) -> Bool {
        variable.contains(/_SERVICE_HOST$|_SERVICE_PORT|_PORT$|_PORT_[0-9]+(_|$)/)
    }

    /// The words of a camel-case path; a run of capitals (`tokenURL`) is one word.
    private static func words(_ path: String) -> [Substring] {
        path.matches(of: /[A-Z]+[a-z0-9]*|[a-z0-9]+/).map(\.output)
    }
}

enum UnknownSetting {
    /// The text after "unknown setting": the nearest key of the section, else the same key elsewhere, else all keys.
    static func suggestion(forKey key: String, in section: String, keys: [String]) -> String {
        if let nearest = Suggestion.nearest(to: key, in: keys) {
            let path = section.isEmpty ? nearest : "\(section).\(nearest)"
            return "; did you mean \(path)?"
        }
        let elsewhere = SettingsTable.all.map(\.path).filter { $0.hasSuffix("." + key) }
        if elsewhere.count == 1 { return "; did you mean \(elsewhere[0])?" }
        return "; allowed here: \(keys.joined(separator: ", "))"
    }

    /// The text after an unknown variable: the nearest one.
    static func suggestion(forVariable variable: String) -> String {
        Suggestion.nearest(to: variable, in: SettingsTable.all.map(\.variable)).map { "; did you mean \($0)?" } ?? ""
    }
}
