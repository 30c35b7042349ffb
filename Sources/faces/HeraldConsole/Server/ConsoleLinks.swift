/// The addresses of traces and alerts outside the console; `nil` shows no link.
package struct ConsoleLinks: Sendable, Equatable {
    /// The placeholders for a trace's id and an alert's name.
    package static let traceName = "{traceId}"
    package static let alertName = "{alert}"

    package var traces: String?
    package var alerts: String?

    package init(traces: String? = nil, alerts: String? = nil) {
        self.traces = traces
        self.alerts = alerts
    }

    /// Whether it is a web address with the placeholder after its host, so that a value cannot change the target.
    package static func isTemplate(_ text: String, naming name: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return false }
        let rest = text.dropFirst(scheme.count)
        guard let path = rest.firstIndex(where: { "/?#".contains($0) }), path > rest.startIndex else { return false }
        return !rest[..<path].contains("{") && rest[path...].contains(name)
    }
}
