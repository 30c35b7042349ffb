/// A section of the settings file and what it is about.
struct SettingsSection {
    let name: String
    let summary: String

    /// The sections at the file's top level, in the table's order.
    static let all = [
        Self(name: "kafka", summary: "The cluster, and this worker's place in its group."),
        Self(name: "topics", summary: "The topics' names, and the properties that herald topics gives them."),
        Self(name: "backend", summary: "The notification backend and how to talk to it."),
        Self(name: "delivery", summary: "How events are consumed, sent and recorded."),
        Self(name: "retry", summary: "How failed calls are retried."),
        Self(name: "limits", summary: "Bounds on events and calls."),
        Self(name: "outages", summary: "When Herald stops consuming until the backend or the settings are fixed."),
        Self(name: "log", summary: "The log on standard error."),
        Self(name: "admin", summary: "Health and metrics."),
    ]

    var settings: [any AnySetting] { SettingsTable.all.filter { $0.path.hasPrefix(name + ".") } }
}
