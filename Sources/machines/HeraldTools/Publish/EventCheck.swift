internal import HeraldBytes
package import HeraldEvents
package import HeraldTime

/// What is found about one event before anything is published.
package struct EventFindings: Sendable, Equatable {
    /// The line it came from, from 1.
    package var line: Int
    /// Absent when it has none, or it cannot be read.
    package var id: String?
    /// Absent when it cannot be read.
    package var user: String?
    /// The headers without which Herald would not read the record so, as `name: value`.
    package var headers: [String] = []
    /// Why it cannot be sent, each with its class, as `invalid: user is missing; …`.
    package var mistakes: [String]
    /// What is allowed, and probably not meant.
    package var warnings: [String]
}

/// Looks at the events of a file, one after the other: at each alone, and for ids that come twice.
package struct EventCheck {
    /// Of so many events the ids are compared.
    package static let comparedLimit = 1_000_000

    private let decoder: RecordDecoder
    private let now: WallTime
    private var forms = EventForms()
    /// The lines of the ids so far, by the hash of the id alone, and of id, user and source.
    private var ids: [UInt64: Int] = [:]
    private var whole: [UInt64: Int] = [:]
    /// Whether the file's form was said to be another: once is enough.
    private var hasHinted = false

    /// What else is to be said of an event that is well.
    private let more: (_ event: DecodedEvent, _ value: [UInt8]) -> [String]

    /// - Parameters:
    ///   - decoder: what the workers decode with.
    ///   - now: by which moments are past or far away.
    ///   - more: further warnings about an event that is well.
    package init(
        decoder: RecordDecoder, now: WallTime,
        more: @escaping (_ event: DecodedEvent, _ value: [UInt8]) -> [String] = { _, _ in [] }
    ) {
        self.decoder = decoder
        self.now = now
        self.more = more
    }

    /// What is to be said of a line.
    package mutating func look(at line: TextLine) -> EventFindings {
        if let mistake = decoder.oversize(of: line) {
            return EventFindings(line: line.number, mistakes: [mistake], warnings: [])
        }
        var findings = look(at: line.bytes, line: line.number)
        if !hasHinted, !findings.mistakes.isEmpty, let hint = Self.hint(on: line.bytes) {
            hasHinted = true
            findings.mistakes[0] += "; \(hint)"
        }
        return findings
    }

    /// What a line probably is that is no JSON object: a part of a file of another form.
    private static func hint(on line: [UInt8]) -> String? {
        if ForeignValue.isUTF16(line.span.bytes) { return "iconv -f UTF-16 -t UTF-8 makes a file of UTF-16 readable" }
        let bytes = line.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        if bytes.first == UInt8(ascii: "[") {
            return "a file has one event on each line, without an array around them: jq -c '.[]' makes it"
        }
        // One that ends in the middle, and not a whole one with a mistake.
        let isOpen = bytes.first == UInt8(ascii: "{") && bytes.last != UInt8(ascii: "}")
        return isOpen ? "each event has to be on one line: jq -c . makes it so" : nil
    }

    /// The same of an event's JSON.
    package mutating func look(at value: [UInt8], line: Int) -> EventFindings {
        let isCloudEvent = forms.isCloudEvent(value)
        let review = EventReview(of: value, isCloudEvent: isCloudEvent, decoder, now: now)
        let event = review.event
        var findings = EventFindings(
            line: line, mistakes: review.mistakes.map(\.sentence), warnings: review.warnings)
        if findings.mistakes.isEmpty { findings.warnings += more(event, value) }
        if isCloudEvent { findings.headers = ["content-type: \(EventPreparation.cloudEventType)"] }
        if event.user.isPresent { findings.user = event.bytes(of: event.user, value: value.span.bytes).text }
        if event.hasOwnID, event.id.isPresent {
            let id = event.bytes(of: event.id, value: value.span.bytes).text
            findings.id = id
            let source = event.bytes(of: event.source, value: value.span.bytes).text
            if let warning = repetition(id, findings.user ?? "", source, line: line) {
                findings.warnings.append(warning)
            }
        }
        return findings
    }

    private mutating func repetition(_ id: String, _ user: String, _ source: String, line: Int) -> String? {
        let same = Self.hash(id, user, source)
        if let first = whole[same] {
            return
                "the id is that of line \(first) too, with the same user and source: of such events Herald sends one, "
                + "and the other is a duplicate"
        }
        guard whole.count < Self.comparedLimit else { return nil }
        whole[same] = line
        let alone = Self.hash(id)
        if let first = ids[alone] {
            return
                "the id is that of line \(first) too: results of both have the same id, and only user or source tell "
                + "them apart"
        }
        ids[alone] = line
        return nil
    }

    private static func hash(_ parts: String...) -> UInt64 {
        var hasher = Hasher()
        for part in parts {
            // Not as texts, of which two ways to write ü are one.
            var part = part
            part.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            hasher.combine(UInt8(0))
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
