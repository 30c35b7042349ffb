/// A metric's name, meaning and labels: declared once, for every format and for the documentation.
public struct MetricDeclaration: Sendable, Equatable {
    /// The behaviour of its numbers.
    public enum Kind: String, Sendable {
        /// Only rises, until the process ends.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts observations up to each bound.
        case histogram
        /// Always 1; the labels carry the information.
        case info
    }

    /// The base unit of its numbers; the name ends with it.
    public enum Unit: String, Sendable {
        /// Seconds.
        case seconds
        /// Bytes.
        case bytes
    }

    /// The name without the ending that a counter's or an info's sample gets (`_total`, `_info`).
    public let name: String
    /// The behaviour of its numbers.
    public let kind: Kind
    /// Their unit; `nil` for plain counts.
    public let unit: Unit?
    /// The names of its labels, in the order of a sample's values.
    public let labels: [String]
    /// One sentence for people.
    public let help: String

    /// Declares a metric.
    public init(_ name: String, _ kind: Kind, unit: Unit? = nil, labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.labels = labels
        self.help = help
    }

    /// The name that people query (a histogram's samples have further endings).
    public var sampleName: String {
        switch kind {
        case .counter: name + "_total"
        case .info: name + "_info"
        case .gauge, .histogram: name
        }
    }
}
