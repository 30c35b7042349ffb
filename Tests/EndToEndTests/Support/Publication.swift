import Foundation
import HeraldKafka

/// A record that a test publishes.
struct Publication: Sendable {
    /// The request topic's short name in the test's fixture.
    var topic = "notifications"
    /// `nil` lets the key decide, like Java's producer.
    var partition: Int32?
    /// The record's timestamp in milliseconds; `nil` for the current time.
    var timestamp: Int64?
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [StoredRecord.Header] = []

    /// Any bytes.
    init(key: [UInt8]?, value: [UInt8]?, headers: [StoredRecord.Header] = []) {
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// Text as the value, with its user as the key.
    init(user: String, text: String, headers: [StoredRecord.Header] = []) {
        self.init(key: Array(user.utf8), value: Array(text.utf8), headers: headers)
    }

    /// A plain event, with its user as the key.
    ///
    /// - Parameter more: Other members of the JSON object.
    init(id: String, user: String, pns: [String] = ["apns"], message: String = "Hello", more: [String: String] = [:]) {
        var object: [String: Any] = ["id": id, "user": user, "pns": pns, "message": message]
        for (name, value) in more { object[name] = value }
        let value = (try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])).map { Array($0) }
        self.init(key: Array(user.utf8), value: value)
    }
}

extension Producer {
    /// Produces a copy of the publication to this topic; throws when it is refused.
    func publish(_ publication: Publication, to topic: ProducerTopic) throws {
        let refusal = Self.lend(publication.key) { key in
            Self.lend(publication.value) { value in
                let headers = ProducerHeaders(capacity: publication.headers.count)
                for header in publication.headers {
                    Self.lend(header.value) { headers.append(name: header.name, value: $0) }
                }
                return produce(
                    topic: topic, partition: publication.partition, timestamp: publication.timestamp, key: key,
                    value: value, headers: headers, token: 0)
            }
        }
        if let refusal { throw refusal }
    }

    private static func lend<R>(_ bytes: [UInt8]?, _ body: (RawSpan?) -> R) -> R {
        guard let bytes else { return body(nil) }
        return body(bytes.span.bytes)
    }
}
