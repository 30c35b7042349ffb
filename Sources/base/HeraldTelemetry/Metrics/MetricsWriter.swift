/// Writes metrics in one of the formats: each metric begins once, followed by its samples.
public struct MetricsWriter: Sendable {
    private let format: MetricsFormat
    private var output: [UInt8] = []
    private var metric: MetricDeclaration?

    /// A writer that has written nothing.
    public init(_ format: MetricsFormat) {
        self.format = format
        output.reserveCapacity(16_384)
    }

    /// Begins a metric; its samples follow.
    public mutating func begin(_ metric: MetricDeclaration) {
        self.metric = metric
        // OpenMetrics names the family, Prometheus the samples.
        let name = format == .openMetrics ? metric.name : metric.sampleName
        write("# HELP \(name) ")
        writeEscaped(metric.help, quotes: format == .openMetrics)
        // Prometheus' text has no infos.
        let kind = format == .prometheusText && metric.kind == .info ? .gauge : metric.kind
        write("\n# TYPE \(name) \(kind.rawValue)\n")
        if format == .openMetrics, let unit = metric.unit { write("# UNIT \(name) \(unit.rawValue)\n") }
    }

    /// A sample that is a whole number.
    public mutating func sample(_ labels: [String] = [], _ value: Int) {
        guard let metric else { return }
        sample(metric.sampleName, labels: labels, value: "\(value)")
    }

    /// A sample that is any number.
    public mutating func sample(_ labels: [String] = [], _ value: Double) {
        guard let metric else { return }
        sample(metric.sampleName, labels: labels, value: Self.text(value))
    }

    /// The samples of a histogram.
    ///
    /// - Parameters:
    ///   - bounds: The largest value of each bucket but the last, rising.
    ///   - counts: The number of observations in each bucket alone, one more than there are bounds.
    public mutating func histogram(_ labels: [String] = [], bounds: [Double], counts: [Int], sum: Double) {
        guard let metric else { return }
        var total = 0
        for (index, count) in counts.enumerated() {
            total += count
            let bound = index < bounds.count ? Self.text(bounds[index]) : "+Inf"
            sample(metric.name + "_bucket", labels: labels, bound: bound, value: "\(total)")
        }
        sample(metric.name + "_sum", labels: labels, value: Self.text(sum))
        sample(metric.name + "_count", labels: labels, value: "\(total)")
    }

    /// Everything that was written; nothing can follow.
    public consuming func finish() -> [UInt8] {
        if format == .openMetrics { write("# EOF\n") }
        return output
    }

    private mutating func sample(_ name: String, labels: [String], bound: String? = nil, value: String) {
        precondition(labels.count == metric?.labels.count, "\(name) has other labels")
        write(name)
        var separator = "{"
        for (label, value) in zip(metric?.labels ?? [], labels) {
            write("\(separator)\(label)=\"")
            writeEscaped(value, quotes: true)
            write("\"")
            separator = ","
        }
        if let bound {
            write("\(separator)le=\"\(bound)\"")
            separator = ","
        }
        write(separator == "{" ? " \(value)\n" : "} \(value)\n")
    }

    private mutating func write(_ text: String) { output += text.utf8 }

    /// The three escapes of both formats; the help of Prometheus' text does not escape quotes.
    private mutating func writeEscaped(_ text: String, quotes: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): output += "\\\\".utf8
            case UInt8(ascii: "\n"): output += "\\n".utf8
            case UInt8(ascii: "\"") where quotes: output += "\\\"".utf8
            default: output.append(byte)
            }
        }
    }

    /// A number in the syntax of both formats: `0.005`, `10.0`, `+Inf`.
    private static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return "\(value)"
    }
}
