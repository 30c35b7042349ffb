internal import HeraldBytes
internal import HeraldTime

/// Writes the events of a campaign: what differs between recipients into what is the same for all.
package struct EventForm {
    /// The events' `source`.
    static let source = "herald-campaign"

    private let tail: [UInt8]

    /// What all events of a campaign have in common.
    ///
    /// - Parameters:
    ///   - pushServices: names that the settings allow.
    ///   - expiresAt: epoch milliseconds.
    package init(campaign: String, pushServices: [String], expiresAt: Int64?) {
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
        tail.append(UInt8(ascii: "}"))
        self.tail = tail
    }

    /// Appends the event's JSON; the user has to keep the contract's rule, the message has to be UTF-8.
    package func append(_ id: RecipientID, user: RawSpan, message: RawSpan, to output: inout [UInt8]) {
        output.append(text: #"{"id":""#)
        id.append(to: &output)
        output.append(text: #"","user":"#)
        JSONText.appendString(user, to: &output)
        output.append(text: #","message":"#)
        JSONText.appendString(message, to: &output)
        output.append(contentsOf: tail)
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
