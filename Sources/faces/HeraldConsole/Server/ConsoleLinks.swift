/// Where traces and alerts are shown, outside of the console; `nil` shows no link.
package struct ConsoleLinks: Sendable, Equatable {
    /// What stands for a trace's id and an alert's name.
    package static let traceName = "{traceId}"
    package static let alertName = "{alert}"

    package var traces: String?
    package var alerts: String?

    package init(traces: String? = nil, alerts: String? = nil) {
        self.traces = traces
        self.alerts = alerts
    }

    /// Whether it is a web address that has the name behind its host: what is put there leads nowhere else.
    package static func isTemplate(_ text: String, naming name: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return false }
        let rest = text.dropFirst(scheme.count)
        guard let path = rest.firstIndex(where: { "/?#".contains($0) }), path > rest.startIndex else { return false }
        return !rest[..<path].contains("{") && rest[path...].contains(name)
    }
}
