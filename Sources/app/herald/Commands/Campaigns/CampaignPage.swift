import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldReplay
import HeraldText
import HeraldTime
import HeraldTools

/// How a campaign stands, for people: pure.
///
/// Texts from records are made safe to show; the message's text is not among them.
struct CampaignPage {
    /// Makes text stand out, where that is possible.
    typealias Paint = (_ text: String, _ style: Style) -> String

    /// What an outcome that is known or to come is called, drawn and painted with.
    private struct Part {
        var name: String
        var count: Int
        /// In the bar; each is another one, because colours may be missing.
        var mark: Character
        var style: Style?
        var note = ""
        /// Whether it is shown when there is none.
        var isAlwaysShown = true
    }

    private static let barColumns = 4...72
    private static let nameColumns = 12
    private static let numberColumns = 13

    let status: CampaignStatus
    /// What became of the notifications behind the hub; `nil` when nothing is known of that.
    var feedback: FeedbackCount?
    var configuration: String?
    let width: Int
    let paint: Paint

    // MARK: For people

    /// The lines; none is wider than ``width``.
    var lines: [String] {
        let campaign = status.campaign
        var lines = headlines.map { paint($0, .bold) }
        if let definition = campaign.definition {
            let start = WallTime(milliseconds: definition.startedAt).text
            lines += wrapped(
                "started \(start) by \(SafeText.escaped(definition.startedBy)) · "
                    + "\(SafeText.escaped(definition.pns.joined(separator: ", "))) · \(definition.topic)")
        }
        if status.state == .paused, let start = CampaignWords.start(status) { lines += wrapped(start) }
        if let recalled = CampaignWords.recalled(status) { lines += wrapped(recalled) }
        lines += [bar, ""]
        for (part, share) in zip(parts, CampaignWords.shares(parts.map(\.count)))
        where part.isAlwaysShown || part.count > 0 { lines.append(line(part, share)) }
        lines.append("")
        if let line = rateLine { lines += wrapped(line) }
        if let wait = status.wait { lines += wrapped(CampaignWords.sentence(wait)) }
        lines += status.rampWait.map(CampaignWords.lines)?.flatMap(wrapped) ?? []
        if let feedback { lines += feedbackLines(CampaignWords.sentence(feedback, taken: status.count.delivered)) }
        if let excluded = CampaignWords.excluded(campaign) { lines += wrapped(excluded) }
        lines += publisherLines.flatMap(wrapped)
        if status.count.failed > 0 {
            let file = configuration.map { " --config \(Selection.quoted($0))" } ?? ""
            lines += wrapped(
                "why some failed, in dead letters: herald dlq list --where \"campaign = '\(campaign.name)'\""
                    + SafeText.escaped(file))
        }
        return lines
    }

    /// The sentence's parts, as many in a line as fit.
    private func feedbackLines(_ sentence: String) -> [String] {
        sentence.split(separator: "; ").reduce(into: []) { lines, part in
            if let last = lines.last, (last + "; " + part).displayWidth <= width {
                lines[lines.count - 1] += "; " + part
            } else {
                lines.append(cut(String(part)))
            }
        }
    }

    /// Its name and state; who paused it, and why, may take several lines.
    private var headlines: [String] {
        let name = "\(status.campaign.name)  "
        let lines = Wrapping.lines(CampaignWords.standing(status), width: width - name.displayWidth)
        return lines.enumerated().map { cut(($0.offset == 0 ? name : "  ") + $0.element) }
    }

    private var parts: [Part] {
        let count = status.count
        let suppressed = CampaignWords.suppressed(count) ?? ""
        var retrying = status.backlog?.isPartly ?? false ? "about; the retry topics are long" : ""
        if status.backlog == nil, status.open > 0 { retrying = "not known: the retry topics were not read" }
        return [
            Part(
                name: "delivered", count: count.delivered, mark: "█", style: .green,
                note: count.recovered > 0 ? "\(CampaignWords.number(count.recovered)) of them by a replay" : ""),
            Part(name: "retrying", count: status.retrying, mark: "▓", style: .yellow, note: retrying),
        ]
            + count.allUnreached.map { outcome, name, count in
                let (mark, style) = Self.look(outcome)
                return Part(
                    name: name, count: count, mark: mark, style: style,
                    note: outcome == .suppressed ? suppressed : "", isAlwaysShown: outcome.standing == .failed)
            } + [
                Part(
                    name: "waiting", count: status.waiting, mark: "░", style: nil,
                    note: waitingNote),
                Part(name: "unpublished", count: status.unpublished, mark: "·", style: .dim, isAlwaysShown: false),
            ]
    }

    private var waitingNote: String {
        [(status.suspended, "suspended"), (status.asleep, "in quiet hours")].filter { $0.0 > 0 }
            .map { "\(CampaignWords.number($0.0)) of them \($0.1)" }.joined(separator: ", ")
    }

    private static func look(_ outcome: Outcome) -> (mark: Character, style: Style) {
        switch outcome {
        case .deadLettered: ("▒", .red)
        case .expired: ("x", .red)
        case .cancelled: ("-", .dim)
        case .suppressed: ("/", .dim)
        // Others show them.
        case .delivered, .duplicate: ("█", .green)
        }
    }

    private var whole: Int { max(status.total ?? 0, status.published) }

    /// The outcomes as a bar; whatever there is gets at least one place.
    private var bar: String {
        let known = CampaignWords.share(status.count.known, of: whole)
        let columns = min(max(width - 8, Self.barColumns.lowerBound), Self.barColumns.upperBound)
        guard whole > 0 else { return String(repeating: " ", count: columns) + "  -" }
        let shown = parts.filter { $0.count > 0 }
        var cells = shown.map { max(1, Int((Double($0.count) / Double(whole) * Double(columns)).rounded(.down))) }
        // What rounding has left, or taken, the largest part bears.
        if let largest = shown.indices.max(by: { shown[$0].count < shown[$1].count }) {
            cells[largest] += columns - cells.reduce(0, +)
        }
        let bar = zip(shown, cells).map { part, count in
            let text = String(repeating: part.mark, count: max(0, count))
            return part.style.map { paint(text, $0) } ?? text
        }
        return bar.joined() + "  " + known
    }

    private func line(_ part: Part, _ percent: String) -> String {
        let number = CampaignWords.number(part.count)
        let left = part.name.fitted(toColumns: Self.nameColumns)
        let padding = String(repeating: " ", count: max(0, Self.numberColumns - number.count))
        let text =
            "\(part.mark) \(left)\(padding)\(number)  \(String(repeating: " ", count: max(0, 6 - percent.count)))"
        let note = part.note.isEmpty ? "" : "  \(part.note)"
        let whole = cut(text + percent + note)
        guard let style = part.style, part.count > 0 else { return whole }
        return paint(String(part.mark), style) + whole.dropFirst()
    }

    private var rateLine: String? {
        // Brokers that are silent tell no speed.
        guard !status.isOver, ![.paused, .scheduled, .waiting].contains(status.state), status.meter != nil else {
            return nil
        }
        var parts: [String] = []
        // In the first seconds there is nothing to say.
        guard let perSecond = status.perSecond else { return nil }
        if perSecond > 0 {
            parts.append("\(CampaignWords.rate(perSecond)) in the last \(OutcomeMeter.window) s")
        } else {
            parts.append("no outcome in the last \(OutcomeMeter.window) s")
        }
        if let seconds = status.secondsLeft { parts.append("about \(CampaignWords.duration(seconds)) left") }
        return parts.joined(separator: ", ")
    }

    private var publisherLines: [String] {
        guard let progress = status.campaign.progress else {
            return status.campaign.definition == nil
                ? ["not started with herald campaign start"] : ["nothing is published yet"]
        }
        let counts =
            "published \(CampaignWords.number(status.publishedRecipients)) of \(CampaignWords.number(progress.everybody)) recipients"
        let silence = CampaignWords.duration((status.silence ?? .zero).inSeconds)
        let name = SafeText.escaped(progress.by)
        let first = [counts] + replacementLines
        switch status.state {
        case .scheduled: return first + ["publisher \(name), last report \(silence) ago"]
        case .running where !progress.isComplete, .paused where !progress.isComplete && status.isPublisherAlive:
            return first + ["publisher \(name), last report \(silence) ago"]
                + (status.isDetached
                    ? ["its audience is kept in Kafka: when that one ends, a console or herald campaign run goes on"]
                    : [])
        case .paused where status.isWithoutPublisher:
            return first + [
                CampaignWords.withoutPublisher(status)
            ] + (status.isDetached ? [] : ["resume it, then start it again with the same audience"])
        // Why it is in its state says so already.
        case .stopped where status.isDetached || status.isScheduled || status.campaign.isLate(at: status.now):
            return first
        case .stopped:
            return first + ["start it again with the same audience, and it goes on; nobody is notified twice"]
        case .waiting where status.isPublisherAlive: return first + ["publisher \(name), last report \(silence) ago"]
        case .running, .waiting, .paused, .cancelled, .expired, .finished: return first
        }
    }

    private var replacementLines: [String] {
        (status.campaign.progress?.replacements ?? []).map { CampaignWords.sentence($0) }
    }

    /// A sentence in as many lines as it needs; a word that is wider than the page is cut.
    private func wrapped(_ text: String) -> [String] { Wrapping.lines(text, width: width, hanging: 2).map(cut) }

    func cut(_ text: String) -> String {
        text.displayWidth > width ? text.fitted(toColumns: width) : text
    }
}
