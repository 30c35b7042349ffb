import Foundation

/// Dead letters written by a real Spring application; they lie beside the repository.
public struct SpringLetters: Decodable, Sendable {
    /// One record.
    public struct Letter: Decodable, Sendable {
        /// The record's key.
        public let key: [UInt8]
        /// The record's value.
        public let value: [UInt8]
        /// The record's headers, in order.
        public let headers: [(name: String, value: [UInt8])]

        private enum CodingKeys: CodingKey { case key, value, headers }

        /// Reads a record whose bytes are in base64.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            key = try Array(container.decode(Data.self, forKey: .key))
            value = try Array(container.decode(Data.self, forKey: .value))
            headers = try container.decode([[String]].self, forKey: .headers).map { pair in
                guard pair.count == 2, let value = Data(base64Encoded: pair[1]) else {
                    throw DecodingError.dataCorruptedError(
                        forKey: .headers, in: container, debugDescription: "no name and value: \(pair)")
                }
                return (pair[0], Array(value))
            }
        }
    }

    /// Letters given up by `@RetryableTopic`.
    public let retryable: [Letter]
    /// Letters that `DefaultErrorHandler` passed to `DeadLetterPublishingRecoverer`.
    public let recovered: [Letter]
    /// Records that still wait in a retry topic.
    public let waiting: [Letter]

    private enum CodingKeys: String, CodingKey {
        case retryable = "notifications-dlt"
        case recovered = "orders-dlt"
        case waiting = "notifications-retry-300"
    }

    /// All of them.
    public static func read() throws -> Self {
        try JSONDecoder().decode(Self.self, from: Data(contentsOf: Judge.spring.url))
    }
}
