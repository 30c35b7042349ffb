import HeraldBytes
import HeraldTime

/// Writes one JSON object member by member; it only remembers whether one was written already.
struct JSONObjectWriter {
    private var isEmpty = true

    /// Writes a member's key, after which the value has to follow.
    mutating func key(_ name: StaticString, _ output: inout [UInt8]) {
        output.append(isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
        isEmpty = false
        output.append(UInt8(ascii: "\""))
        output.append(text: name)
        output.append(text: "\":")
    }

    mutating func append(_ name: StaticString, utf8 text: RawSpan, to output: inout [UInt8]) {
        key(name, &output)
        JSONText.appendString(text, to: &output)
    }

    /// Writes a text in which nothing has to be escaped.
    mutating func append(_ name: StaticString, plain text: String, to output: inout [UInt8]) {
        key(name, &output)
        output.append(UInt8(ascii: "\""))
        output.append(contentsOf: text.utf8)
        output.append(UInt8(ascii: "\""))
    }

    mutating func append(_ name: StaticString, _ text: String, to output: inout [UInt8]) {
        key(name, &output)
        JSONText.appendString(text.utf8.span.bytes, to: &output)
    }

    mutating func append(_ name: StaticString, _ number: Int64, to output: inout [UInt8]) {
        key(name, &output)
        output.append(decimal: number)
    }

    mutating func append(_ name: StaticString, _ time: WallTime, to output: inout [UInt8]) {
        key(name, &output)
        output.append(UInt8(ascii: "\""))
        RFC3339.append(time, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    /// Closes the object.
    func end(_ output: inout [UInt8]) {
        if isEmpty { output.append(UInt8(ascii: "{")) }
        output.append(UInt8(ascii: "}"))
    }
}
