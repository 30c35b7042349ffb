/// How an audience is written.
package enum AudienceFormat: String, CaseIterable, Sendable {
    /// CSV (RFC 4180) with a header.
    case csv
    case jsonl

    init?(path: String) {
        let name = path.lowercased()
        if [".csv", ".tsv"].contains(where: { name.hasSuffix($0) }) {
            self = .csv
        } else if [".jsonl", ".ndjson"].contains(where: { name.hasSuffix($0) }) {
            self = .jsonl
        } else {
            return nil
        }
    }
}
