import Foundation

/// Answers of Microsoft's service to its .NET SDK, recorded by the SDK's own tests; they lie beside the repository.
public struct HubRecordings: Decodable, Sendable {
    /// One answer.
    public struct Answer: Decodable, Sendable {
        /// The path with its query.
        public let path: String
        /// The status.
        public let status: Int
        /// All headers.
        public let headers: [String: String]
        /// The body; empty without one.
        public let body: String

        private enum CodingKeys: String, CodingKey {
            case path = "RequestUriPath"
            case status = "StatusCode"
            case headers = "Headers"
            case contentHeaders = "ContentHeaders"
            case body = "Content"
        }

        /// Reads an answer in the SDK tests' format.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            path = try container.decode(String.self, forKey: .path)
            status = try container.decode(Int.self, forKey: .status)
            headers = try container.decode([String: String].self, forKey: .headers)
                .merging(container.decode([String: String].self, forKey: .contentHeaders)) { $1 }
            body = try container.decodeIfPresent(String.self, forKey: .body) ?? ""
        }

        /// The segments of the path after the hub's name.
        public var segments: [String] {
            path.prefix { $0 != "?" }.split(separator: "/").dropFirst().map(String.init)
        }
    }

    private let answers: [Answer]

    private enum CodingKeys: String, CodingKey { case answers = "HttpCalls" }

    /// Every answer of the service's data plane, in the order of the files' names, without those of its management.
    public static func answers() throws -> [Answer] {
        let decoder = JSONDecoder()
        // One file has a comma too many.
        decoder.allowsJSON5 = true
        let folder = Judge.azure.url
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".http") && !$0.hasPrefix("ManagementApi") }.sorted()
        return try names.flatMap { name in
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            return try decoder.decode(HubRecordings.self, from: Data(text.replacing("\u{FEFF}", with: "").utf8)).answers
        }
    }
}
