import HeraldBytes
import HeraldTime

/// Writes one JSON object member by member; it only remembers whether one was written already.
struct JSONObjectWriter {
    fileprivate var isEmpty = true

    /// Writes a member's key, after which the value has to follow.
    mutating func key(_ name: StaticString, _ output: inout [UInt8]) {
        output.append(room: Self.room(forKey: name)) { key(name, &$0) }
    }

    mutating func append(_ name: StaticString, utf8 text: RawSpan, to output: inout [UInt8]) {
        key(name, &output)
        JSONText.appendString(text, to: &output)
    }

    /// Writes a text in which nothing has to be escaped.
    mutating func append(_ name: StaticString, plain text: String, to output: inout [UInt8]) {
        output.append(room: Self.room(forKey: name) + text.utf8.count + 2) { write(name, plain: text, to: &$0) }
    }

    mutating func append(_ name: StaticString, _ text: String, to output: inout [UInt8]) {
        append(name, utf8: text.utf8.span.bytes, to: &output)
    }

    mutating func append(_ name: StaticString, _ number: Int64, to output: inout [UInt8]) {
        output.append(room: Self.room(forKey: name) + ByteWriter.longestDecimal) { write(name, number, to: &$0) }
    }

    mutating func append(_ name: StaticString, _ time: WallTime, to output: inout [UInt8]) {
        output.append(room: Self.room(forKey: name) + RFC3339.formattedByteCount + 2) { write(name, time, to: &$0) }
    }

    /// Closes the object.
    func end(_ output: inout [UInt8]) {
        if isEmpty { output.append(UInt8(ascii: "{")) }
        output.append(UInt8(ascii: "}"))
    }
}

// The same into room that was made for the whole object.
extension JSONObjectWriter {
    /// The most bytes that a key takes, with what stands around it.
    static func room(forKey name: StaticString) -> Int { name.utf8CodeUnitCount + 4 }

    // Inlined, so that a key is written as the words that a literal of its length has.
    @inline(__always)
    mutating func key(_ name: StaticString, _ output: inout ByteWriter) {
        output.write(isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
        isEmpty = false
        output.write(UInt8(ascii: "\""))
        output.write(text: name)
        output.write(text: "\":")
    }

    /// Writes a text, which may become six times as long and two bytes more.
    @inline(__always)
    mutating func write(_ name: StaticString, utf8 text: RawSpan, to output: inout ByteWriter) {
        key(name, &output)
        let rest = JSONText.write(text, from: 0, to: &output)
        precondition(rest == nil, "there is no room for what is escaped")
    }

    /// Writes an array of texts, each of which may become six times as long and three bytes more, and two bytes around.
    mutating func write(_ name: StaticString, texts: [[UInt8]], to output: inout ByteWriter) {
        key(name, &output)
        for (index, text) in texts.enumerated() {
            output.write(index == 0 ? UInt8(ascii: "[") : UInt8(ascii: ","))
            let rest = JSONText.write(text.span.bytes, from: 0, to: &output)
            precondition(rest == nil, "there is no room for what is escaped")
        }
        output.write(UInt8(ascii: "]"))
    }

    /// Writes an array of the parts' names, which takes at most 58 bytes.
    mutating func write(_ name: StaticString, _ fields: ContentFields, to output: inout ByteWriter) {
        key(name, &output)
        output.write(UInt8(ascii: "["))
        for (index, field) in fields.fields.enumerated() {
            output.write(text: index == 0 ? "\"" : ",\"")
            output.write(text: field.field.name)
            output.write(UInt8(ascii: "\""))
        }
        output.write(UInt8(ascii: "]"))
    }

    @inline(__always)
    mutating func write(_ name: StaticString, plain text: String, to output: inout ByteWriter) {
        key(name, &output)
        output.write(UInt8(ascii: "\""))
        output.write(copying: text.utf8.span.bytes)
        output.write(UInt8(ascii: "\""))
    }

    @inline(__always)
    mutating func write(_ name: StaticString, _ number: Int64, to output: inout ByteWriter) {
        key(name, &output)
        output.write(decimal: number)
    }

    @inline(__always)
    mutating func write(_ name: StaticString, _ time: WallTime, to output: inout ByteWriter) {
        key(name, &output)
        output.write(UInt8(ascii: "\""))
        RFC3339.write(time, to: &output)
        output.write(UInt8(ascii: "\""))
    }

    /// Closes the object, which has a member.
    @inline(__always)
    func end(_ output: inout ByteWriter) { output.write(UInt8(ascii: "}")) }
}
