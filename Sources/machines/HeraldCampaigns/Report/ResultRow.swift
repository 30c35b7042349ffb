package import HeraldEvents
internal import HeraldTools

/// A result as a line of a CSV file, which does nothing when a spreadsheet opens it.
package enum ResultRow {
    package static func heading(delimiter: String) -> String {
        CSVText.line(
            [
                "id", "user", "pns", "outcome", "reason", "status", "attempts", "firstAttemptAt", "completedAt",
                "replays", "origin", "detail", "omitted",
            ], delimiter: delimiter)
    }

    package static func line(_ result: NotificationResult, delimiter: String) -> String {
        let cells: [String?] = [
            result.id, result.user, result.pushService, result.outcome.rawValue, result.reason?.rawValue,
            result.status.map { "\($0)" }, result.attempts.map { "\($0)" }, result.firstAttemptAt?.text,
            result.completedAt.text, "\(result.replays)", result.origin.description, result.detail,
            result.omitted.fields.map(\.rawValue).joined(separator: " "),
        ]
        return CSVText.line(cells.map { $0 ?? "" }, delimiter: delimiter)
    }
}
