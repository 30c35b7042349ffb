/// How one record ended, and where it is: what ``Producer/reports(wait:_:)`` hands over.
public struct DeliveryReport: Sendable, Equatable {
    /// What was given to the produce call.
    public var token: UInt64
    /// The record's partition; -1 when it has none.
    public var partition: Int32
    /// The record's offset; negative when it is not known.
    public var offset: Int64
    /// Why the broker may not have the record, or `nil`: it has.
    public var error: KafkaError?
    /// Whether a broker has or may have the record: with an error, its request went out and got no answer.
    public var wasSent: Bool
}
