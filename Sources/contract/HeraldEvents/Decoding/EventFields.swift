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
    case data
    case dataBase64
    case traceparent
    case options
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

    /// The field with this name; the length leaves at most three to compare.
    init?(named name: RawSpan) {
        switch name.byteCount {
        case 2: self.init(named: name, among: .id)
        case 3: self.init(named: name, among: .pns)
        case 4: self.init(named: name, among: .user, .time, Self.short(name[byteAt: 0]))
        case 5: self.init(named: name, among: .title, .image, name[byteAt: 0] == UInt8(ascii: "b") ? .badge : .sound)
        case 6: self.init(named: name, among: .source)
        case 7: self.init(named: name, among: .message, .options)
        case 8: self.init(named: name, among: .campaign, .category)
        case 9: self.init(named: name, among: .expiresAt, .notBefore)
        case 11: self.init(named: name, among: .specversion, .dataBase64, .traceparent)
        default: return nil
        }
    }

    /// What a name of four letters may be beside `user` and `time`, by its first.
    private static func short(_ first: UInt8) -> Self {
        switch first {
        case UInt8(ascii: "d"): .data
        case UInt8(ascii: "l"): .link
        default: .type
        }
    }

    /// Inlined, so that each name is compared as the words that a literal of its length has.
    @inline(__always)
    private init?(named name: RawSpan, among first: Self, _ second: Self? = nil, _ third: Self? = nil) {
        if name.hasSameBytes(as: first.name) {
            self = first
        } else if let second, name.hasSameBytes(as: second.name) {
            self = second
        } else if let third, name.hasSameBytes(as: third.name) {
            self = third
        } else {
            return nil
        }
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
        ] + content)
    /// The part of an event in a CloudEvent's data.
    static let data = EventFieldSet(
        [.user, .message, .pns, .campaign, .expiresAt, .notBefore, .options] + content)
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
    private var tokens = InlineArray<22, JSONToken>(repeating: JSONToken())
    /// The place of the object with the event, when it has content beside the message; negative without.
    private(set) var contentStart: Int32 = -1

    subscript(_ field: EventField) -> JSONToken {
        mutating get { tokens[field.rawValue] }
        set { tokens[field.rawValue] = newValue }
    }

    /// Notes that the object that begins here has content beside the message.
    mutating func keepContent(at start: Int) { contentStart = Int32(truncatingIfNeeded: start) }
}
