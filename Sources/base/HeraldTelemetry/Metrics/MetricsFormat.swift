import HeraldText

/// The formats in which metrics are written.
public enum MetricsFormat: Sendable, Equatable, CaseIterable {
    /// Prometheus' text format, version 0.0.4.
    case prometheusText
    /// OpenMetrics, version 1.0.0.
    case openMetrics

    /// The value of `Content-Type`.
    public var contentType: String {
        switch self {
        case .prometheusText: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// The format that a header `Accept` prefers; Prometheus' text without a preference.
    public init(accepting accept: String?) {
        var best = (format: Self.prometheusText, weight: 0)
        for range in (accept ?? "").split(separator: ",") {
            guard let (format, weight) = Self.read(range), weight > best.weight else { continue }
            best = (format, weight)
        }
        self = best.format
    }

    /// The format of one media range and its weight in thousandths; `nil` for an unsupported one.
    private static func read(_ range: Substring) -> (Self, Int)? {
        let parts = range.lowercased().split(separator: ";").map(\.trimmed)
        guard let type = parts.first else { return nil }
        var weight = 1_000
        var version: String?
        for parameter in parts.dropFirst() {
            let sides = parameter.split(separator: "=", maxSplits: 1).map(\.trimmed)
            guard sides.count == 2 else { continue }
            switch sides[0] {
            case "q": weight = Double(sides[1]).flatMap { (0...1).contains($0) ? Int($0 * 1_000) : nil } ?? 0
            case "version": version = sides[1]
            default: break
            }
        }
        switch type {
        case "application/openmetrics-text" where version == nil || version == "1.0.0": return (.openMetrics, weight)
        case "text/plain" where version == nil || version == "0.0.4", "text/*", "*/*": return (.prometheusText, weight)
        default: return nil
        }
    }
}
