package import HeraldEvents
internal import HeraldTime
internal import HeraldTools

/// A result as a line of a CSV file, which does nothing when a spreadsheet opens it.
package enum ResultRow {
    package static func heading(delimiter: String) -> String {
        CSVText.line(
            [
                "id", "user", "pns", "outcome", "reason", "status", "attempts", "firstAttemptAt", "completedAt",
                "replays", "origin", "detail", "omitted", "firstAttemptUTC", "completedUTC",
            ], delimiter: delimiter)
    }

    /// A moment as any spreadsheet reads a time, in UTC: `2026-11-21 08:40:26`.
    static func spreadsheet(_ moment: WallTime) -> String {
        String(moment.text.prefix(19)).replacing("T", with: " ")
    }

    package static func line(_ result: NotificationResult, delimiter: String) -> String {
        let cells: [String?] = [
            result.id, result.user, result.pushService, result.outcome.rawValue, result.reasonName,
            result.status.map { "\($0)" }, result.attempts.map { "\($0)" }, result.firstAttemptAt?.text,
            result.completedAt.text, "\(result.replays)", result.origin.description, result.detail,
            result.omitted.fields.map(\.rawValue).joined(separator: " "),
            result.firstAttemptAt.map(spreadsheet), spreadsheet(result.completedAt),
        ]
        return CSVText.line(cells.map { $0 ?? "" }, delimiter: delimiter)
    }
}
