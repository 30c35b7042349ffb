import HeraldBytes
import HeraldText

/// Reads the opt-outs out of words, one record after another: strictly, because a mistake must not opt anybody in.
package struct OptOutReader: Sendable {
    /// What a record comes to.
    package struct Reading: Equatable, Sendable {
        /// What was understood.
        package var optOut = OptOut()
        /// What is wrong and where, as a continuation of "the record"; `nil` for a sound one.
        package var problem: String?

        /// Whether it counts as it is.
        package var isSound: Bool { problem == nil }
    }

    private let pushServices: PushServices
    private var scratch: [UInt8] = []

    package init(pushServices: PushServices) { self.pushServices = pushServices }

    /// Reads a record's value.
    package mutating func read(_ value: RawSpan) -> Reading {
        var reading = Reading()
        do throws(JSONError) {
            try read(value, into: &reading)
        } catch {
            reading.problem = reading.problem ?? "\(error)"
        }
        return reading
    }

    private mutating func read(_ value: RawSpan, into reading: inout Reading) throws(JSONError) {
        var reader = JSONReader(value)
        try reader.enterDocumentObject()
        var isFirst = true
        var count = 0
        while let key = try reader.nextKey(isFirst: &isFirst) {
            let token = try reader.readValue()
            guard isOptOut(key, in: value) else { continue }
            count += 1
            try readEntries(token, value, &reading)
        }
        try reader.expectEnd()
        if count == 0 { note("has no optOut; an empty one is written []", &reading) }
        if count > 1 { note("holds optOut twice", &reading) }
    }

    private mutating func readEntries(
        _ token: JSONToken, _ value: RawSpan, _ reading: inout Reading
    ) throws(JSONError) {
        guard token.kind == .array else {
            return note("has an optOut that is \(token.kindName); it has to be an array of strings", &reading)
        }
        var reader = JSONReader(value, offset: token.range.lowerBound)
        try reader.enterContainer()
        var isFirst = true
        var index = 0
        while let element = try reader.nextElement(isFirst: &isFirst) {
            defer { index += 1 }
            guard element.kind == .string else {
                note("has \(element.kindName) as optOut[\(index)]; it has to be a string", &reading)
                continue
            }
            // What nearly all words are: no text is made of it.
            if !element.hasEscapes, value.extracting(element.range).hasSameBytes(as: "promotional") {
                reading.optOut.isOfPromotional = true
                continue
            }
            let entry = element.text(in: value)
            if let problem = reading.optOut.insert(entry, knowing: pushServices) {
                note("has optOut[\(index)], \(SafeText.quoted(entry, limit: 40)), which \(problem)", &reading)
            }
        }
    }

    private mutating func isOptOut(_ key: JSONToken, in value: RawSpan) -> Bool {
        let bytes = value.extracting(key.range)
        guard key.hasEscapes else { return bytes.hasSameBytes(as: "optOut") }
        scratch.removeAll(keepingCapacity: true)
        JSONEscapes.append(bytes, to: &scratch)
        return scratch.span.bytes.hasSameBytes(as: "optOut")
    }

    /// The first problem is the one that is told.
    private func note(_ problem: String, _ reading: inout Reading) { reading.problem = reading.problem ?? problem }
}
