internal import HeraldBytes
internal import HeraldEvents
internal import HeraldTime

/// Writes the events of a campaign: what differs between recipients into what is the same for all.
package struct EventForm {
    /// The events' `source`.
    static let source = "herald-campaign"

    private let places: [ContentTemplate.Place]
    private let tail: [UInt8]

    /// What all events of a campaign have in common.
    ///
    /// - Parameters:
    ///   - pushServices: names that the settings allow.
    ///   - content: what they have beside the message.
    ///   - expiresAt: epoch milliseconds.
    package init(campaign: String, pushServices: [String], content: ContentTemplate? = nil, expiresAt: Int64?) {
        places = content?.parts.dropFirst().map(\.place) ?? []
        var tail = Array(#","pns":["#.utf8)
        for (index, name) in pushServices.enumerated() {
            if index > 0 { tail.append(UInt8(ascii: ",")) }
            JSONText.appendString(name.utf8.span.bytes, to: &tail)
        }
        tail += Array(#"],"source":"\#(Self.source)","campaign":"\#(campaign)""#.utf8)
        if let expiresAt {
            tail += Array(#","expiresAt":""#.utf8)
            RFC3339.append(WallTime(milliseconds: expiresAt), to: &tail)
            tail.append(UInt8(ascii: "\""))
        }
        if let content = content?.content {
            if let badge = content.badge { tail += Array(#","badge":\#(badge)"#.utf8) }
            for (name, text) in [("sound", content.sound), ("category", content.category)] {
                if let text { Self.append(name, text.utf8.span.bytes, to: &tail) }
            }
        }
        tail.append(UInt8(ascii: "}"))
        self.tail = tail
    }

    /// Appends the event's JSON; the user has to keep the contract's rule, the texts have to be UTF-8.
    ///
    /// - Parameter texts: those beside the message, in the order of the content's parts; an empty one is left out, but for
    ///   members of data.
    package func append(
        _ id: RecipientID, user: RawSpan, message: RawSpan, texts: ArraySlice<[UInt8]> = [], to output: inout [UInt8]
    ) {
        output.append(text: #"{"id":""#)
        id.append(to: &output)
        output.append(text: #"","user":"#)
        JSONText.appendString(user, to: &output)
        output.append(text: #","message":"#)
        JSONText.appendString(message, to: &output)
        var isInData = false
        for (place, text) in zip(places, texts) {
            switch place {
            case .message: continue
            case .field(let field):
                if !text.isEmpty { Self.append(field.rawValue, text.span.bytes, to: &output) }
            case .data(let name):
                // Its comma becomes the brace.
                if !isInData { output.append(text: #","data":"#) }
                let start = output.count
                Self.append(name, text.span.bytes, to: &output)
                if !isInData { output[start] = UInt8(ascii: "{") }
                isInData = true
            }
        }
        if isInData { output.append(text: "}") }
        output.append(contentsOf: tail)
    }

    private static func append(_ name: String, _ text: RawSpan, to output: inout [UInt8]) {
        output.append(text: ",")
        JSONText.appendString(name.utf8.span.bytes, to: &output)
        output.append(text: ":")
        JSONText.appendString(text, to: &output)
    }

    /// The id that an event of ``append(_:user:message:to:)`` begins with; nothing for any other.
    static func id(inEvent event: RawSpan) -> RecipientID? {
        let start = 7
        guard event.byteCount > start + RecipientID.characterCount,
            event.extracting(0..<start).hasSameBytes(as: #"{"id":""#),
            event[byteAt: start + RecipientID.characterCount] == UInt8(ascii: "\"")
        else { return nil }
        guard let high = word(event, start), let low = word(event, start + 16) else { return nil }
        return RecipientID(high: high, low: low)
    }

    private static func word(_ bytes: RawSpan, _ start: Int) -> UInt64? {
        var word: UInt64 = 0
        for offset in start..<start + 16 {
            switch bytes[byteAt: offset] {
            case let digit where (0x30...0x39).contains(digit): word = word << 4 | UInt64(digit - 0x30)
            case let digit where (0x61...0x66).contains(digit): word = word << 4 | UInt64(digit - 0x57)
            default: return nil
            }
        }
        return word
    }
}
