import HeraldCommandLine
import HeraldEvents
import HeraldTime

struct StateWords {
    private let words: String
    /// Left out where room is short.
    private let note: String
    let style: Style?

    init(_ state: DeliveryState, now: WallTime) {
        switch state {
        case .published:
            (words, note, style) = ("· published", "", .dim)
        case .called(let status):
            let answer = status.map { "answered \($0)" } ?? "no answer"
            (words, note, style) = ("→ \(answer)", "", .yellow)
        case .waiting(let retry):
            let wait = retry.dueAt.time(since: now).count
            let due = wait > 0 ? "in \(wait / 1_000).\(wait % 1_000 / 100) s" : "now"
            let reason = [retry.reason.rawValue, retry.status.map { "\($0)" }].compactMap(\.self)
            words = "↻ retry.\(retry.delay), due \(due)"
            note = " (\(reason.joined(separator: " ")))"
            style = .yellow
        case .settled(let result):
            let status = result.status.map { " (\($0))" } ?? ""
            switch result.outcome {
            case .delivered: (words, note, style) = ("✓ delivered", "", .green)
            case .deadLettered:
                (words, note, style) = ("✗ dead letter: \(result.reason?.rawValue ?? "")", status, .red)
            case .suppressed:
                (words, note, style) = ("– suppressed: \(result.suppression?.rawValue ?? "")", "", .dim)
            case .expired, .cancelled, .duplicate:
                (words, note, style) = ("✗ \(result.outcome.rawValue)", status, .red)
            }
        }
    }

    /// The words, with the note when both fit.
    func text(columns: Int) -> String {
        (words + note).displayWidth <= columns ? words + note : words
    }
}
