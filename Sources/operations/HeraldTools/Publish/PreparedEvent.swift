public import HeraldEvents

/// An event that was checked, as the record that it becomes.
public struct PreparedEvent: Sendable, Equatable {
    /// The line it came from, from 1.
    public var line: Int
    /// Its id; `nil` when it has none and its place is one.
    public var id: String?
    /// Its user.
    public var user: String
    /// Its push services, by their indices.
    public var pushServices: PushServiceSet
    /// The record's value; the key is the user.
    public var value: [UInt8]
    /// Whether it is a CloudEvent in the structured form, as a header has to say.
    public var isCloudEvent: Bool

    /// An event that was checked elsewhere.
    public init(
        line: Int, id: String?, user: String, pushServices: PushServiceSet, value: [UInt8], isCloudEvent: Bool = false
    ) {
        self.line = line
        self.id = id
        self.user = user
        self.pushServices = pushServices
        self.value = value
        self.isCloudEvent = isCloudEvent
    }
}

/// Why a line is no event, for people.
public struct EventMistake: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line, from 1.
    public var line: Int
    /// The class of the mistake.
    public var reason: DeadLetterReason
    /// What is wrong; without the message's text.
    public var detail: String

    /// The class and what is wrong, without the line.
    public var description: String { "\(reason.rawValue): \(detail)" }
}
