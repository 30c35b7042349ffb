import HeraldBytes
public import HeraldTime

/// One `POST /api/notifications` that the reference backend saw, in the order of arrival: the tests' own witness.
public struct RecordedCall: Sendable, Equatable {
    /// Counts from 1, without gaps.
    public var number: Int
    /// When the call was complete.
    public var receivedAt: WallTime
    /// The header `Idempotency-Key` as it was sent.
    public var idempotencyKey: String?
    /// The query's `pns` as it was sent.
    public var pns: String?
    /// The query's `to_tag`.
    public var user: String?
    /// Who called; absent when the credentials were missing or wrong.
    public var caller: String?
    /// The header `traceparent`.
    public var traceparent: String?
    /// The status of the answer; absent when there was none (hung, hung up).
    public var status: Int?

    /// The call as one line of JSON, without a line break; absent facts are left out.
    public var jsonLine: [UInt8] {
        var output: [UInt8] = []
        output.append(text: #"{"number":"#)
        output.append(decimal: Int64(number))
        output.append(text: #","receivedAt":"#)
        output.append(decimal: receivedAt.milliseconds)
        for (name, value) in [
            ("key", idempotencyKey), ("pns", pns), ("user", user), ("caller", caller), ("traceparent", traceparent),
        ] {
            guard let value else { continue }
            output.append(contentsOf: ",\"\(name)\":".utf8)
            output += JSONBytes.string(value)
        }
        if let status {
            output.append(text: #","status":"#)
            output.append(decimal: Int64(status))
        }
        output.append(UInt8(ascii: "}"))
        return output
    }
}
