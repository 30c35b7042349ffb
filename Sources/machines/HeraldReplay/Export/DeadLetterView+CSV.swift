internal import HeraldTools

extension DeadLetterView {
    private static let columns = [
        "place", "deadLetteredAt", "id", "user", "pns", "reason", "status", "attempts", "replays", "state", "origin",
        "source", "campaign", "detail", "replayOutcome",
    ]

    /// The first line of a CSV file of dead letters.
    package static func csvHeading(isRevealed: Bool) -> String {
        CSVText.line(columns + (isRevealed ? ["message"] : []))
    }

    /// Its line of a CSV file; the message, or without one the value, only when it is revealed.
    package func csvLine(isRevealed: Bool) -> String {
        let cells: [String?] =
            [
                place, deadLetteredAt.text, id, user, pushServices.joined(separator: " "), reason,
                status.map { "\($0)" }, attempts.map { "\($0)" }, "\(replays)", fate.state.rawValue, origin, source,
                campaign, detail, fate.outcome?.rawValue,
            ] + (isRevealed ? [message ?? value.map { String(decoding: $0, as: UTF8.self) }] : [])
        return CSVText.line(cells.map { $0 ?? "" })
    }
}
