import Foundation

/// A record of the results topic, parsed without the code under test.
struct ResultRecord: Sendable {
    let record: StoredRecord
    let id: String?
    let pns: String?
    let user: String?
    let outcome: String
    let status: Int?
    let reason: String?
    let attempts: Int?
    let completedAt: Date
    /// `topic/partition/offset` of the request.
    let origin: String
    /// The members of the JSON object.
    let members: Set<String>

    init(_ record: StoredRecord) throws {
        guard let object = record.json, let outcome = object["outcome"] as? String,
            let place = object["origin"] as? [String: Any], let topic = place["topic"] as? String,
            let partition = place["partition"] as? Int, let offset = place["offset"] as? Int,
            let completed = (object["completedAt"] as? String).flatMap({ Self.date($0) })
        else {
            throw WorldError("no result: \(record.value.map { String(decoding: $0, as: UTF8.self) } ?? "null")")
        }
        self.record = record
        self.outcome = outcome
        id = object["id"] as? String
        pns = object["pns"] as? String
        user = object["user"] as? String
        status = object["status"] as? Int
        reason = object["reason"] as? String
        attempts = object["attempts"] as? Int
        completedAt = completed
        origin = "\(topic)/\(partition)/\(offset)"
        members = Set(object.keys)
    }

    private static func date(_ text: String) -> Date? {
        try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// The expected part of it in one line: outcome, reason, status and attempts.
    var summary: String {
        let parts = [outcome, reason, status.map { "\($0)" }, attempts.map { "attempts \($0)" }]
        return parts.compactMap { $0 }.joined(separator: " ")
    }
}
