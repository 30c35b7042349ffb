package import HeraldEvents
internal import HeraldText

/// A mistake in one text of a notification.
package struct ContentMistake: Error, Equatable, CustomStringConvertible {
    /// The text: `message`, `title`, `data`.
    package let part: String
    /// What is wrong with it: `has 300 bytes …`, or `column 4: …`.
    package let problem: String
    /// The whole sentence, without the message's text.
    package let description: String

    init(_ place: ContentTemplate.Place, template mistake: InputError) {
        part = place.part
        problem = mistake.description
        description = "the \(place.name), \(problem)"
    }

    init(_ place: ContentTemplate.Place, rule detail: String) {
        part = place.part
        problem = detail.hasPrefix("\(part) ") ? String(detail.dropFirst(part.count + 1)) : detail
        description = "the \(detail)"
    }
}

/// What a campaign's recipients get, compiled once: the message and the texts beside it, each a template.
///
/// Badge, sound and category are the same for all.
package struct ContentTemplate: Sendable, Equatable {
    /// Which of a notification's texts.
    package enum Place: Equatable, Sendable {
        case message
        case field(ContentField)
        /// The member of data with this name.
        case data(String)

        /// `message`, `title`, `data.order`.
        package var name: String {
            switch self {
            case .message: "message"
            case .field(let field): field.rawValue
            case .data(let name): "data.\(name)"
            }
        }

        /// The event's field that it belongs to.
        package var part: String {
            switch self {
            case .message, .field: name
            case .data: ContentField.data.rawValue
            }
        }
    }

    /// A text of the notification.
    package struct Part: Sendable, Equatable {
        package let place: Place
        let template: MessageTemplate
        /// Of each field of the template its number in ``ContentTemplate/fields``.
        fileprivate let fields: [Int]

        /// Appends the text; see ``MessageTemplate/render(into:onEmpty:append:)``.
        func render(
            into output: inout [UInt8], onEmpty: (Int) -> Void, append: (Int, inout [UInt8]) -> Void
        ) {
            template.render(into: &output, onEmpty: { onEmpty(fields[$0]) }, append: { append(fields[$0], &$1) })
        }
    }

    /// As it is written, beside the message.
    package let content: CampaignContent
    /// The message, and behind it the others, members of data last.
    private(set) var parts: [Part] = []
    /// The fields that it uses.
    package private(set) var fields = TemplateFields()

    /// The message as it is written.
    package var message: String { parts[0].template.text }

    /// Compiles templates that a campaign has.
    package init(_ message: String, _ content: CampaignContent? = nil) throws(ContentMistake) {
        try self.init(message, content, MessageTemplate.init(_:))
    }

    /// Compiles templates as a person has written them (``MessageTemplate/init(written:)``); parts that are the same for all
    /// have to keep their rules.
    package init(written message: String, _ content: CampaignContent) throws(ContentMistake) {
        try self.init(message, content.given, MessageTemplate.init(written:))
        try checkConstants()
    }

    private init(
        _ message: String, _ content: CampaignContent?, _ compile: (String) throws(InputError) -> MessageTemplate
    ) throws(ContentMistake) {
        self.content = content ?? CampaignContent()
        var texts: [(Place, String)] = [(.message, message)]
        for (field, text) in [
            (ContentField.title, self.content.title), (.link, self.content.link), (.image, self.content.image),
        ] {
            if let text { texts.append((.field(field), text)) }
        }
        texts += (self.content.data ?? [:]).sorted { $0.key < $1.key }.map { (.data($0.key), $0.value) }
        for (place, text) in texts {
            do throws(InputError) {
                add(place, try compile(text))
            } catch {
                throw ContentMistake(place, template: error)
            }
        }
    }

    private mutating func add(_ place: Place, _ template: MessageTemplate) {
        let own = template.fields
        let numbers = zip(own.names, own.isOptional).map { fields.number(of: $0, isOptional: $1) }
        parts.append(Part(place: place, template: template, fields: numbers))
    }

    /// Refuses what no event could have, whoever gets it.
    private func checkConstants() throws(ContentMistake) {
        var whole = NotificationEvent(user: "user", message: "message", pushServices: PushServices.standard.names)
        func check(_ place: Place, _ change: (inout NotificationEvent) -> Void) throws(ContentMistake) {
            var event = whole
            change(&event)
            do throws(DecodingFailure) {
                try event.validate()
            } catch {
                throw ContentMistake(place, rule: error.detail)
            }
            whole = event
        }
        for part in parts.dropFirst() {
            let constant = part.template.fields.names.isEmpty ? part.template.text : nil
            switch part.place {
            case .field(.title): try check(part.place) { $0.title = constant }
            case .field(.link): try check(part.place) { $0.link = constant }
            case .field(.image): try check(part.place) { $0.image = constant }
            case .data(let name): try check(part.place) { $0.data[name] = constant ?? "" }
            case .message, .field: continue
            }
        }
        try check(.field(.badge)) { $0.badge = content.badge }
        try check(.field(.sound)) { $0.sound = content.sound }
        try check(.field(.category)) { $0.category = content.category }
    }

    /// The numbers of the parts that phones show as words: message and title.
    var visibleParts: [Int] { parts.indices.filter { [.message, .field(.title)].contains(parts[$0].place) } }

    /// Whether all that is beside the message is the same for all.
    var hasConstantContent: Bool { parts.dropFirst().allSatisfy { $0.template.fields.names.isEmpty } }

    /// The first text that uses a field, in words.
    package func place(using name: String) -> String {
        parts.first { $0.template.fields.names.contains(name) }?.place.name ?? "message"
    }

    /// Whether one of its texts holds these characters; which.
    package func place(holding text: String) -> String? {
        parts.first { $0.template.text.contains(text) }?.place.name
    }

    /// The marks of other tools in its texts, each once, with the text that it stands in.
    ///
    /// - Parameter columns: what the audience's columns are called.
    package func foreignMarks(_ columns: [String]) -> [(mark: ForeignMark, place: Place)] {
        parts.flatMap { part in
            part.template.foreignMarks(columns)
                // A URL's bytes are written with percents.
                .filter { !part.place.isURL || !$0.mark.hasPrefix("%") }
                .map { ($0, part.place) }
        }
    }
}

extension ContentTemplate.Place {
    /// Whether what fields put into it is percent-encoded.
    var isURL: Bool { self == .field(.link) || self == .field(.image) }
}
