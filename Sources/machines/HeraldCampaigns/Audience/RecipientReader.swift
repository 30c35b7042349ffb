internal import HeraldBytes
internal import HeraldEvents
package import HeraldText
internal import HeraldTools

/// Goes through an audience's recipients, each with his event as it would be published; what is no recipient comes with
/// the reason.
///
/// One thread.
package final class RecipientReader {
    package enum Item: Equatable {
        /// A recipient: ``id``, ``user``, ``message`` and ``event`` are his until the next call.
        case recipient
        /// A line that is none, and why; ``user`` is empty where it cannot be split.
        case invalid(String)
        case end
    }

    private let template: ContentTemplate
    private let ids: RecipientIDs
    private let form: EventForm
    private let maximumEventBytes: Int
    private let users: UserRule
    /// Checks what events have beside the message.
    private let decoder: RecordDecoder
    private var decoded = DecodedEvent()
    /// Whether what is beside the message keeps its rules, for all recipients.
    private var isContentRight: Bool
    /// The audience's lines, of which the present item is one.
    private(set) var lines: AudienceReader

    package private(set) var id = RecipientID(high: 0, low: 0)
    package private(set) var user: [UInt8] = []
    /// Of each part of the template its text; the message is the first.
    private(set) var texts: [[UInt8]] = []
    package var message: [UInt8] { texts[0] }
    /// What the fields so far tell of the audience's encoding.
    private(set) var evidence = EncodingEvidence()
    /// What looks like a mistake in the texts' fields, by their numbers in the template's names, and the part's number.
    private(set) var doubts: [(field: Int, doubt: FieldDoubt, part: Int)] = []
    /// The numbers of the fields that have nothing for the present recipient, whatever stands there instead.
    private(set) var emptyFields: [Int] = []
    /// The parts that phones show: message and title.
    private let visibleParts: [Int]
    private(set) var event: [UInt8] = []
    private var field: [UInt8] = []

    /// A reader at the audience's beginning; a header without a field that the message uses is thrown.
    package init(_ audience: Audience, _ campaign: CampaignText, expiresAt: Int64?) throws {
        template = campaign.template
        ids = RecipientIDs(campaign: campaign.name)
        form = EventForm(
            campaign: campaign.name, pushServices: campaign.pushServices, content: template, expiresAt: expiresAt)
        maximumEventBytes = campaign.maximumEventBytes
        users = campaign.users
        decoder = RecordDecoder(
            pushServices: try PushServices(names: campaign.pushServices), maxEventBytes: campaign.maximumEventBytes,
            users: users)
        isContentRight = template.parts.count == 1
        visibleParts = campaign.template.visibleParts
        texts = Array(repeating: [], count: template.parts.count)
        lines = try AudienceReader(
            audience, fields: template.fields.names, isOptional: template.fields.isOptional,
            place: template.place(using:))
    }

    /// Goes on to the next line that is not empty.
    package func next() throws -> Item {
        user.removeAll(keepingCapacity: true)
        switch try lines.next() {
        case .end: return .end
        case .wrong(let reason): return .invalid(reason)
        case .good: break
        }
        lines.append(0, to: &user)
        let name = CellPadding.trimmed(0..<user.count, of: user.span.bytes)
        if name.count < user.count { user = Array(user[name]) }
        if let problem = users.problem(in: user.span.bytes) { return .invalid(problem) }
        if users == .text, let problem = problem(inText: user, "user") { return .invalid(problem) }
        doubts.removeAll(keepingCapacity: true)
        emptyFields.removeAll(keepingCapacity: true)
        var isBeyondASCII = evidence.hasUTF8 || user.contains { $0 > 0x7F }
        for (number, part) in template.parts.enumerated() {
            texts[number].removeAll(keepingCapacity: true)
            part.render(
                into: &texts[number], onEmpty: { doubts.append(($0, .empty, number)) },
                append: { field, text in
                    let before = text.count
                    lines.append(field + 1, to: &text)
                    if text.count == before, !emptyFields.contains(field) { emptyFields.append(field) }
                    if !isBeyondASCII { isBeyondASCII = text[before...].contains { $0 > 0x7F } }
                    if let doubt = FieldDoubt(text[before...]) { doubts.append((field, doubt, number)) }
                    if part.place.isURL { PercentEncoding.mendURL(&text, from: before) }
                })
            if let problem = problem(in: part.place, number) { return .invalid(problem) }
        }
        if isBeyondASCII, !evidence.hasUTF8 { evidence.noteUTF8() }
        id = ids.id(of: user.span.bytes)
        event.removeAll(keepingCapacity: true)
        let message = message
        form.append(id, user: user.span.bytes, message: message.span.bytes, texts: texts.dropFirst(), to: &event)
        guard event.count <= maximumEventBytes else {
            return .invalid("its event has \(event.count) bytes; limits.eventBytes allows \(maximumEventBytes)")
        }
        if !isContentRight {
            // As a worker will.
            let failure = decoder.failure(of: event, isCloudEvent: false, into: &decoded)
            if let failure { return .invalid(failure.detail) }
            isContentRight = template.hasConstantContent
        }
        return .recipient
    }

    /// Appends the present recipient with the fields that the texts use, as a line of JSON.
    func appendLine(to output: inout [UInt8]) {
        let userColumn = lines.reading.userColumn
        let names = [userColumn] + template.fields.names
        var separator = UInt8(ascii: "{")
        for (number, name) in names.enumerated() where number == 0 || name != userColumn {
            field.removeAll(keepingCapacity: true)
            lines.append(number, to: &field)
            output.append(separator)
            JSONText.appendString(name.utf8.span.bytes, to: &output)
            output.append(UInt8(ascii: ":"))
            JSONText.appendString(field.span.bytes, to: &output)
            separator = UInt8(ascii: ",")
        }
        output.append(text: "}\n")
    }

    /// How many bytes message and title have.
    var visibleBytes: Int { visibleParts.reduce(0) { $0 + texts[$1].count } }

    /// How many of Unicode's scalars message and title have: one for each byte that continues none.
    var visibleCharacters: Int {
        visibleParts.reduce(0) { sum, part in sum + texts[part].count { $0 & 0xC0 != 0x80 } }
    }

    /// The texts of the present recipient beside the message.
    var content: CampaignContent {
        var content = template.content
        for (part, text) in zip(template.parts, texts) {
            let text = String(decoding: text, as: UTF8.self)
            let shown = text.isEmpty ? nil : text
            switch part.place {
            case .field(.title): content.title = shown
            case .field(.link): content.link = shown
            case .field(.image): content.image = shown
            case .data(let name): content.data?[name] = text
            case .message, .field: continue
            }
        }
        return content
    }

    private func problem(in place: ContentTemplate.Place, _ number: Int) -> String? {
        let text = texts[number]
        switch place {
        case .message: return problem(inMessage: text)
        case .data: return problem(inText: text, place.name)
        case .field:
            // Empty it is left out, where the template says so: {{picture|}}.
            if text.isEmpty, let empty = doubts.first(where: { $0.part == number }) {
                return
                    "the \(place.name) is empty; {{\(template.fields.names[empty.field])|}} leaves it out for who has none"
            }
            if !text.isEmpty, isBlank(text) { return "the \(place.name) is empty" }
            return problem(inText: text, place.name)
        }
    }

    private func problem(inMessage message: [UInt8]) -> String? {
        guard !isBlank(message) else { return "the message is empty" }
        guard message.count <= RecordDecoder.maximumMessageBytes else {
            return "the message has \(message.count) bytes of UTF-8; "
                + "at most \(RecordDecoder.maximumMessageBytes) are allowed"
        }
        return problem(inText: message, "message")
    }

    /// Whether it is spaces and line breaks alone, of which a phone shows nothing.
    private func isBlank(_ text: [UInt8]) -> Bool { !text.contains { $0 > UInt8(ascii: " ") } }

    private func problem(inText text: [UInt8], _ name: String) -> String? {
        let bytes = text.span.bytes
        var offset = 0
        while offset < bytes.byteCount {
            if offset + 8 <= bytes.byteCount {
                let word = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let ones: UInt64 = 0x0101_0101_0101_0101
                // No byte is 0 or above 127: a borrow would have come from a 0.
                if (word | (word &- ones)) & (ones &* 0x80) == 0 {
                    offset += 8
                    continue
                }
            }
            guard bytes[byteAt: offset] != 0 else { return "the \(name) holds a NUL character" }
            guard let count = UTF8Text.characterByteCount(at: offset, in: bytes) else {
                return evidence.note(bytes[byteAt: offset], of: name, line: lines.line)
            }
            offset += count
        }
        return nil
    }
}

/// What all events of a campaign have in common.
package struct CampaignText: Sendable {
    package var name: String
    package var template: ContentTemplate
    package var pushServices: [String]
    /// `limits.eventBytes`.
    package var maximumEventBytes: Int
    /// `backend.users`.
    package var users: UserRule

    package init(
        name: String, template: ContentTemplate, pushServices: [String], maximumEventBytes: Int, users: UserRule
    ) {
        self.name = name
        self.template = template
        self.pushServices = pushServices
        self.maximumEventBytes = maximumEventBytes
        self.users = users
    }
}
