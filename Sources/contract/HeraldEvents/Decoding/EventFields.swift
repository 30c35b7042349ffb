import HeraldBytes

/// The members of the JSON objects that make an event.
enum EventField: Int, CaseIterable {
    case id
    case user
    case message
    case pns
    case source
    case campaign
    case time
    case expiresAt
    case notBefore
    case specversion
    case type
    case dataBase64
    case traceparent
    case options
    case eventClass
    case zone
    /// A CloudEvent's.
    case data
    // The content beside the message, from here on.
    case title
    case link
    case image
    case badge
    case sound
    case category
    /// The app's `data`: in a CloudEvent the one within the envelope's.
    case appData

    /// Whether it is a part of the notification beside its message.
    var isContent: Bool { rawValue >= Self.title.rawValue }

    @inline(__always)
    var name: StaticString {
        switch self {
        case .id: "id"
        case .user: "user"
        case .message: "message"
        case .pns: "pns"
        case .source: "source"
        case .campaign: "campaign"
        case .time: "time"
        case .expiresAt: "expiresAt"
        case .notBefore: "notBefore"
        case .specversion: "specversion"
        case .type: "type"
        case .data: "data"
        case .dataBase64: "data_base64"
        case .traceparent: "traceparent"
        case .options: "options"
        case .eventClass: "class"
        case .zone: "zone"
        case .title: "title"
        case .link: "link"
        case .image: "image"
        case .badge: "badge"
        case .sound: "sound"
        case .category: "category"
        case .appData: "data"
        }
    }

    /// The length of the longest name.
    static let longestName = 11

    /// The field with this name; length and first letters leave one to compare.
    init?(named name: RawSpan) {
        switch name.byteCount {
        case 2: self.init(.id, name)
        case 3: self.init(.pns, name)
        case 4:
            switch name[byteAt: 0] {
            case UInt8(ascii: "u"): self.init(.user, name)
            case UInt8(ascii: "t"):
                if name[byteAt: 1] == UInt8(ascii: "i") { self.init(.time, name) } else { self.init(.type, name) }
            case UInt8(ascii: "d"): self.init(.data, name)
            case UInt8(ascii: "z"): self.init(.zone, name)
            default: self.init(.link, name)
            }
        case 5:
            switch name[byteAt: 0] {
            case UInt8(ascii: "t"): self.init(.title, name)
            case UInt8(ascii: "i"): self.init(.image, name)
            case UInt8(ascii: "b"): self.init(.badge, name)
            case UInt8(ascii: "c"): self.init(.eventClass, name)
            default: self.init(.sound, name)
            }
        case 6: self.init(.source, name)
        case 7: if name[byteAt: 0] == UInt8(ascii: "m") { self.init(.message, name) } else { self.init(.options, name) }
        case 8:
            if name[byteAt: 2] == UInt8(ascii: "m") { self.init(.campaign, name) } else { self.init(.category, name) }
        case 9:
            if name[byteAt: 0] == UInt8(ascii: "e") { self.init(.expiresAt, name) } else { self.init(.notBefore, name) }
        case 11:
            switch name[byteAt: 0] {
            case UInt8(ascii: "s"): self.init(.specversion, name)
            case UInt8(ascii: "d"): self.init(.dataBase64, name)
            default: self.init(.traceparent, name)
            }
        default: return nil
        }
    }

    /// Inlined, so that each name is compared as the words that a literal of its length has.
    @inline(__always)
    private init?(_ field: Self, _ name: RawSpan) {
        guard name.hasSameBytes(as: field.name) else { return nil }
        self = field
    }
}

/// Which fields an object can have; all others in it are unknown and ignored.
struct EventFieldSet {
    private var bits: UInt32 = 0

    init(_ fields: [EventField]) {
        for field in fields { bits |= 1 << UInt32(field.rawValue) }
    }

    func contains(_ field: EventField) -> Bool { bits & (1 << UInt32(field.rawValue)) != 0 }

    /// An event in a record's value.
    static let plain = EventFieldSet(
        [
            .id, .user, .message, .pns, .source, .campaign, .time, .expiresAt, .notBefore, .options,
            .eventClass, .zone,
        ] + content)
    /// The part of an event in a CloudEvent's data.
    static let data = EventFieldSet(
        [.user, .message, .pns, .campaign, .expiresAt, .notBefore, .options, .eventClass, .zone] + content)
    private static let content = EventField.allCases.filter(\.isContent)
    /// A structured CloudEvent around the data.
    static let envelope = EventFieldSet([
        .specversion, .id, .source, .type, .time, .data, .dataBase64, .traceparent,
    ])
}

/// The values that were found for the fields, with the place of each.
///
/// It is passed as `inout`: copying all of it would cost more than reading one.
struct EventTokens {
    private var tokens = InlineArray<24, JSONToken>(repeating: JSONToken())
    /// The place of the object with the event, when it has content beside the message; negative without.
    private(set) var contentStart: Int32 = -1

    subscript(_ field: EventField) -> JSONToken {
        mutating get { tokens[field.rawValue] }
        set { tokens[field.rawValue] = newValue }
    }

    /// Notes that the object that begins here has content beside the message.
    mutating func keepContent(at start: Int) { contentStart = Int32(truncatingIfNeeded: start) }
}
