/// A part of a notification beside its message.
public enum ContentField: String, Hashable, Sendable, CaseIterable {
    /// The line above the message.
    case title
    /// Where a tap leads: a URL.
    case link
    /// A picture's URL.
    case image
    /// Names and texts for the app.
    case data
    /// The number on the app's icon.
    case badge
    /// The sound that it makes.
    case sound
    /// The kind of notification, which the app has registered.
    case category

    /// Its place among all, without a search.
    package var place: Int { ContentFields(self).rawValue.trailingZeroBitCount }

    var field: EventField {
        switch self {
        case .title: .title
        case .link: .link
        case .image: .image
        case .data: .appData
        case .badge: .badge
        case .sound: .sound
        case .category: .category
        }
    }

    init?(_ field: EventField) {
        switch field {
        case .title: self = .title
        case .link: self = .link
        case .image: self = .image
        case .appData: self = .data
        case .badge: self = .badge
        case .sound: self = .sound
        case .category: self = .category
        case .id, .user, .message, .pns, .source, .campaign, .time, .expiresAt, .notBefore, .specversion, .type, .data,
            .dataBase64, .traceparent, .options, .eventClass, .zone:
            return nil
        }
    }
}

/// Parts of a notification beside its message.
public struct ContentFields: OptionSet, Hashable, Sendable {
    /// One bit for each part.
    public let rawValue: UInt8

    /// The parts with these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// One part.
    public init(_ field: ContentField) {
        rawValue =
            switch field {
            case .title: 1
            case .link: 2
            case .image: 4
            case .data: 8
            case .badge: 16
            case .sound: 32
            case .category: 64
            }
    }

    /// These parts.
    public init(_ fields: [ContentField]) { self = fields.reduce(into: []) { $0.insert(ContentFields($1)) } }

    /// All parts.
    public static let all = Self(ContentField.allCases)

    /// Whether the part is one of them.
    public func contains(_ field: ContentField) -> Bool { contains(ContentFields(field)) }

    /// The parts, in the order of the contract's table.
    public var fields: [ContentField] { ContentField.allCases.filter { contains($0) } }

    /// Their names, for a sentence: `title, link`.
    package var words: String { fields.map(\.rawValue).joined(separator: ", ") }
}
