/// Scans JSON of the kind that librdkafka writes, once, and extracts the requested values.
///
/// A client with hundreds of partitions writes a megabyte, of which a dozen numbers are decoded.
struct StatisticsReader {
    /// The input is not JSON, or not of the expected type.
    struct Malformed: Error {}

    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Calls the closure with the name of each member of the object at this place; unread values are skipped.
    mutating func members(_ body: (String, inout Self) throws(Malformed) -> Void) throws(Malformed) {
        try take("{")
        guard next != UInt8(ascii: "}") else { return try take("}") }
        while true {
            let name = try string()
            try take(":")
            let value = place
            try body(name, &self)
            if place == value { try pass() }
            guard next == UInt8(ascii: ",") else { return try take("}") }
            try take(",")
        }
    }

    mutating func number() throws(Malformed) -> Int {
        let isNegative = next == UInt8(ascii: "-")
        if isNegative { try take("-") }
        _ = next
        let digits = bytes[place...].prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        guard let number = Int(String(decoding: digits, as: UTF8.self)) else { throw Malformed() }
        place += digits.count
        return Int(isNegative ? -number : number)
    }

    /// The text at this place, with escapes left as they are.
    mutating func string() throws(Malformed) -> String {
        let text = try quoted()
        return String(decoding: bytes[text], as: UTF8.self)
    }

    /// The next byte that is not a space; 0 at the end.
    private var next: UInt8 {
        mutating get {
            while place < bytes.count, bytes[place] <= UInt8(ascii: " ") { place += 1 }
            return place < bytes.count ? bytes[place] : 0
        }
    }

    private mutating func take(_ byte: Unicode.Scalar) throws(Malformed) {
        guard next == UInt8(ascii: byte) else { throw Malformed() }
        place += 1
    }

    private mutating func quoted() throws(Malformed) -> Range<Int> {
        try take("\"")
        let begin = place
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard place < bytes.count else { throw Malformed() }
        place += 1
        return begin..<place - 1
    }

    /// Skips the value at this place.
    private mutating func pass() throws(Malformed) {
        var depth = 0
        repeat {
            switch next {
            case 0: throw Malformed()
            case UInt8(ascii: "\""): _ = try quoted()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                place += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"): place += 1
            default: while place < bytes.count, !Self.ends(bytes[place]) { place += 1 }
            }
        } while depth > 0
    }

    private static func ends(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "}"), UInt8(ascii: "]"), 0...UInt8(ascii: " "): true
        default: false
        }
    }
}
