import HeraldBytes
public import HeraldText

/// A record of the feedback topic.
public enum FeedbackRecord: Equatable, Sendable {
    /// The outcome of a notification.
    case notification(NotificationFeedback)
    /// A device that is gone.
    case device(DeviceFeedback)

    enum Kind: String {
        case notification
        case device
    }

    /// Reads the value of a record of the feedback topic; unknown fields are ignored.
    public init(decoding value: RawSpan) throws(InvalidArgument) {
        let fields = try RecordFields(value, "feedback")
        switch try fields.required("type", Kind.init(rawValue:)) {
        case .notification: self = .notification(try NotificationFeedback(fields))
        case .device: self = .device(try DeviceFeedback(fields))
        }
    }

    /// Reads the value of a record of the feedback topic; unknown fields are ignored.
    public init(decoding value: [UInt8]) throws(InvalidArgument) {
        try self.init(decoding: value.span.bytes)
    }
}
