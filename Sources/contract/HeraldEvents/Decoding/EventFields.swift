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
        }
    }

    /// The length of the longest name.
    static let longestName = 11

    /// The field with this name; the length leaves at most three to compare.
    init?(named name: RawSpan) {
        let candidates: (EventField, EventField?, EventField?)
        switch name.byteCount {
        case 2: candidates = (.id, nil, nil)
        case 3: candidates = (.pns, nil, nil)
        case 4: candidates = (.user, .time, name[byteAt: 0] == UInt8(ascii: "d") ? .data : .type)
        case 6: candidates = (.source, nil, nil)
        case 7: candidates = (.message, .options, nil)
        case 8: candidates = (.campaign, nil, nil)
        case 9: candidates = (.expiresAt, .notBefore, nil)
        case 11: candidates = (.specversion, .dataBase64, .traceparent)
        default: return nil
        }
        if name.hasSameBytes(as: candidates.0.name) {
            self = candidates.0
        } else if let second = candidates.1, name.hasSameBytes(as: second.name) {
            self = second
        } else if let third = candidates.2, name.hasSameBytes(as: third.name) {
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

    /// An event as it stands in a record's value.
    static let plain = EventFieldSet([
        .id, .user, .message, .pns, .source, .campaign, .time, .expiresAt, .notBefore, .options,
    ])
    /// What of an event a CloudEvent's data holds.
    static let data = EventFieldSet([.user, .message, .pns, .campaign, .expiresAt, .notBefore, .options])
    /// A structured CloudEvent around the data.
    static let envelope = EventFieldSet([
        .specversion, .id, .source, .type, .time, .data, .dataBase64, .traceparent,
    ])
}

/// The values that were found for the fields, with the place of each.
struct EventTokens {
    private var tokens = InlineArray<15, JSONToken>(repeating: JSONToken())

    subscript(_ field: EventField) -> JSONToken {
        get { tokens[field.rawValue] }
        set { tokens[field.rawValue] = newValue }
    }
}
