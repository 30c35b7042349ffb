import HeraldText
package import HeraldTime

/// One `POST /api/notifications` that the reference backend saw, in the order of arrival: the tests' own witness.
package struct RecordedCall: Sendable, Equatable {
    /// Counts from 1, without gaps.
    package var number: Int
    package var receivedAt: WallTime
    /// The header `Idempotency-Key` as it was sent.
    package var idempotencyKey: String?
    /// The query's `pns` as it was sent.
    package var pns: String?
    /// The query's `to_tag`.
    package var user: String?
    /// The text for the user, as the body has it; absent when the body is none, or longer than an event's message can be.
    package var message: String?
    /// The caller; absent when the credentials were missing or wrong.
    package var caller: String?
    /// The header `traceparent`.
    package var traceparent: String?
    /// The status of the answer; absent when there was none (hung, hung up).
    package var status: Int?

    /// The record of a request topic that the call is made for, where the sandbox knows it.
    package var record: Record?

    /// A record, and what is wrong with it.
    package struct Record: Sendable, Equatable {
        package var topic: String
        package var partition: Int
        package var offset: Int64
        /// Absent when it has none.
        package var key: String?
        /// A `PublisherFault` by its name.
        package var fault: String?

        package init(topic: String, partition: Int, offset: Int64, key: String?, fault: String?) {
            self.topic = topic
            self.partition = partition
            self.offset = offset
            self.key = key
            self.fault = fault
        }
    }

    /// The call as one line of JSON, without a line break; absent facts are left out.
    package var jsonLine: [UInt8] {
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
        for (name, value) in [
            ("partition", record?.partition), ("offset", record.map { Int($0.offset) }), ("status", status),
        ] {
            if let value { members.append(.init(name, .integer(value))) }
        }
        return JSONValue.object(members).bytes
    }
}
