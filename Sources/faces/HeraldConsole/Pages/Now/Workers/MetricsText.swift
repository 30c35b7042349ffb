/// Prometheus' text, read sample by sample: another program may have answered in a worker's place.
///
/// What is no sample is passed over, and what is too much for a worker is left out.
struct MetricsText {
    /// One number with its labels.
    struct Sample: Equatable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    /// So many samples are read at most.
    static let sampleLimit = 50_000
    /// A longer line is no worker's.
    static let lineLimit = 2_048
    static let labelLimit = 8

    /// Calls `body` with each sample whose name begins with `prefix`, in the order of the text.
    static func read(_ text: [UInt8], prefix: String, _ body: (Sample) -> Void) {
        let start = Array(prefix.utf8)
        var count = 0
        var rest = text[...]
        while !rest.isEmpty, count < sampleLimit {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest.dropFirst(line.count + 1)
            guard line.count <= lineLimit, line.starts(with: start), let sample = sample(line) else { continue }
            count += 1
            body(sample)
        }
    }

    private static func sample(_ line: ArraySlice<UInt8>) -> Sample? {
        var rest = line
        let name = take(&rest) { isName($0) }
        var labels: [String: String] = [:]
        if rest.first == UInt8(ascii: "{") {
            rest.removeFirst()
            guard let found = Self.labels(&rest) else { return nil }
            labels = found
        }
        skipSpaces(&rest)
        let value = take(&rest) { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "\r") }
        guard !name.isEmpty, let number = number(value) else { return nil }
        return Sample(name: String(decoding: name, as: UTF8.self), labels: labels, value: number)
    }

    private static func labels(_ rest: inout ArraySlice<UInt8>) -> [String: String]? {
        var labels: [String: String] = [:]
        while true {
            skipSpaces(&rest)
            if rest.first == UInt8(ascii: "}") {
                rest.removeFirst()
                return labels
            }
            let name = take(&rest) { isName($0) }
            guard !name.isEmpty, labels.count < labelLimit, skip("=", &rest), skip("\"", &rest),
                let value = quoted(&rest)
            else { return nil }
            labels[String(decoding: name, as: UTF8.self)] = value
            if rest.first == UInt8(ascii: ",") { rest.removeFirst() }
        }
    }

    /// The text up to the closing quote, which is passed.
    private static func quoted(_ rest: inout ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                bytes.append(escaped == UInt8(ascii: "n") ? UInt8(ascii: "\n") : escaped)
            default: bytes.append(byte)
            }
        }
        return nil
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Double? { number(String(decoding: bytes, as: UTF8.self)) }

    /// A number as Prometheus writes it; `nil` when it is none.
    static func number(_ text: String) -> Double? {
        switch text {
        case "+Inf", "Inf": return .infinity
        case "-Inf": return -.infinity
        case "NaN", "": return nil
        default: return Double(text).flatMap { $0.isNaN ? nil : $0 }
        }
    }

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: ":"):
            true
        default: false
        }
    }

    private static func take(_ rest: inout ArraySlice<UInt8>, while isWanted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = rest.prefix(while: isWanted)
        rest = rest.dropFirst(taken.count)
        return taken
    }

    private static func skipSpaces(_ rest: inout ArraySlice<UInt8>) {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    private static func skip(_ character: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }
}
