package import HeraldText
package import HeraldTime

/// One `POST /api/notifications` received by the reference backend, in order of arrival: the tests' own witness.
package struct RecordedCall: Sendable, Equatable {
    /// Counts from 1 without gaps.
    package var number: Int
    package var receivedAt: WallTime
    package var idempotencyKey: String?
    package var pns: String?
    /// The query's `to_tag`.
    package var user: String?
    /// The body's text for the user; nil when the body is not one, or longer than an event's message can be.
    package var message: String?
    /// The other members of a body that is an object.
    package var content: [JSONValue.Member] = []
    /// The caller; nil when the credentials were missing or wrong.
    package var caller: String?
    package var traceparent: String?
    /// The status of the answer; nil when there was none (hung, hung up).
    package var status: Int?

    /// The request record that the call is made for, where the sandbox knows it.
    package var record: Record?

    package struct Record: Sendable, Equatable {
        package var topic: String
        package var partition: Int
        package var offset: Int64
        package var key: String?
        /// The name of a `PublisherFault`.
        package var fault: String?

        package init(topic: String, partition: Int, offset: Int64, key: String?, fault: String?) {
            self.topic = topic
            self.partition = partition
            self.offset = offset
            self.key = key
            self.fault = fault
        }
    }

    /// The call as one JSON line with its line break; unknown facts are left out.
    var jsonLine: [UInt8] {
        var members: [JSONValue.Member] = [
            .init("number", .integer(number)), .init("receivedAt", .integer(Int(receivedAt.milliseconds))),
        ]
        for (name, value) in [
            ("key", idempotencyKey), ("pns", pns), ("user", user), ("message", message), ("caller", caller),
            ("traceparent", traceparent), ("topic", record?.topic), ("recordKey", record?.key),
            ("fault", record?.fault),
        ] {
            if let value { members.append(.init(name, .string(value))) }
        }
        if !content.isEmpty { members.append(.init("content", .object(content))) }
        for (name, value) in [
            ("partition", record?.partition), ("offset", record.map { Int($0.offset) }), ("status", status),
        ] {
            if let value { members.append(.init(name, .integer(value))) }
        }
        return Array("\(JSONValue.object(members).compact)\n".utf8)
    }
}
