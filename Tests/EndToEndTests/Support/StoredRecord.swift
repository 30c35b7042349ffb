import Foundation
import HeraldKafka

/// A copy of a record in a topic.
struct StoredRecord: Sendable {
    /// One header; a record may have several of a name.
    struct Header: Sendable, Equatable {
        var name: String
        var value: [UInt8]?

        init(_ name: String, _ value: [UInt8]?) {
            self.name = name
            self.value = value
        }

        init(_ name: String, _ value: String) {
            self.init(name, Array(value.utf8))
        }
    }

    let topic: String
    let partition: Int32
    let offset: Int64
    let timestamp: Int64
    let key: [UInt8]?
    let value: [UInt8]?
    let headers: [Header]

    init(_ message: Message) {
        topic = message.topicName()
        partition = message.partition
        offset = message.offset
        timestamp = message.timestampMilliseconds
        key = message.withKey { Self.bytes($0) }
        value = message.withValue { Self.bytes($0) }
        var headers: [Header] = []
        message.forEachHeader { name, value in
            headers.append(Header(String(decoding: Self.bytes(name), as: UTF8.self), Self.bytes(value)))
        }
        self.headers = headers
    }

    private static func bytes(_ span: RawSpan) -> [UInt8] { span.withUnsafeBytes { Array($0) } }

    private static func bytes(_ span: RawSpan?) -> [UInt8]? {
        guard let span else { return nil }
        return bytes(span)
    }

    /// `topic/partition/offset`, in the format of `herald-origin`.
    var place: String { "\(topic)/\(partition)/\(offset)" }

    /// Its partition.
    var topicPartition: TopicPartition { TopicPartition(topic: topic, partition: partition) }

    /// The key as text.
    var keyText: String? { key.map { String(decoding: $0, as: UTF8.self) } }

    /// The value as a JSON object; `nil` for another value.
    var json: [String: Any]? {
        value.flatMap { try? JSONSerialization.jsonObject(with: Data($0)) as? [String: Any] }
    }

    /// The headers that are not Herald's, in order.
    var originalHeaders: [Header] { headers.filter { !$0.name.hasPrefix("herald-") } }

    /// Herald's headers; a duplicate is joined by `|`, so that no comparison misses it.
    var heraldHeaders: [String: String] {
        let own = headers.filter { $0.name.hasPrefix("herald-") }
        return Dictionary(
            own.map { ($0.name, $0.value.map { String(decoding: $0, as: UTF8.self) } ?? "null") },
            uniquingKeysWith: { "\($0)|\($1)" })
    }

    /// A header of Herald's as a number.
    func number(_ header: String) -> Int64? { heraldHeaders[header].flatMap { Int64($0) } }

    /// The push services named by the event itself, plain or in a CloudEvent; none if it is unreadable.
    var ownServices: [String] {
        guard let json else { return [] }
        let names = (json["data"] as? [String: Any] ?? json)["pns"]
        let list = names as? [String] ?? (names as? String).map { [$0] } ?? []
        return list.map { $0.lowercased() }
    }

    /// The push services named by `herald-pns`.
    var remainingServices: [String] {
        heraldHeaders["herald-pns"]?.split(separator: ",").map { String($0) } ?? []
    }
}
