import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools

/// What people see while a campaign is published: a line that changes on a terminal, lines now and then elsewhere.
final class CampaignStartScreen {
    private let console: Console
    private var line: ProgressLine
    private var outcomes = ThroughputMeter(window: .seconds(5))
    private var isUnreachable = false
    /// Why it was paused last, safe to show.
    private var pauseCause: String?
    /// The moment that it waits for, safe to show.
    private var start: String?

    init(_ console: Console) {
        self.console = console
        line = ProgressLine(console)
    }

    func clear() { line.clear() }

    // MARK: - News

    func report(_ news: PublishNews) {
        switch news {
        case .continues(let count):
            line.remark("Continues: \(CampaignWords.counted(count, "event")) published before.")
        case .paused(let control):
            let reason = control.map { CampaignWords.state(.paused, $0) } ?? "paused"
            pauseCause = control?.reason.map { SafeText.escaped($0) }
            line.remark("The campaign is \(reason).")
            if console.error.isTerminal || !(control?.isByFailures ?? false) {
                line.remark("It continues when resumed; Ctrl-C leaves it paused.")
            }
        case .resumed:
            line.remark("The campaign continues.")
        case .unreachable(let cause):
            guard !isUnreachable else { return }
            isUnreachable = true
            line.remark("Publishing is interrupted (\(SafeText.escaped(cause))); retrying, nothing is lost.")
        case .step(let number):
            line.remark("Step \(number) of the ramp.")
        case .goesOnWithout(let open, let step): line.remark(CampaignWords.goesOnWithout(open, step: step))
        case .held(let count, let name): line.remark(CampaignWords.held(count, name: name))
        case .allPublished:
            line.remark("All recipients are published; waiting for the last outcomes. Ctrl-C does not stop them.")
        }
    }

    // MARK: - Progress

    func show(_ publisher: CampaignMachine, now: Moment) {
        let progress = publisher.progress
        let waits = publisher.waiting(now: now)
        let former = start
        start = if case .scheduled(_, let words)? = waits { SafeText.escaped(words) } else { nil }
        if isUnreachable, publisher.isPublishing, waits?.kind != .broker {
            isUnreachable = false
            line.remark("It goes on.")
        }
        outcomes.note(Int64(progress.outcomes.known))
        let text = Self.text(publisher, waits, perSecond: outcomes.perSecond)
        line.show(bar(progress, besides: text) + " " + text)
        // It may wait for days: that is said once.
        guard let start else { return line.note(text) }
        if start != former { line.remark("It waits for its start, \(start). Ctrl-C leaves it without a publisher.") }
    }

    /// Outcomes full, what is published half, the rest light; as long as the text leaves room for it.
    private func bar(_ progress: PublishProgress, besides text: String) -> String {
        let width = max(6, min(40, console.error.width - text.displayWidth - 2))
        let total = max(1, progress.total)
        func cells(_ count: Int) -> Int { min(width, count * width / total) }
        let known = cells(progress.outcomes.known)
        let published = max(known, cells(progress.events * progress.outcomesPerEvent))
        return String(repeating: "█", count: known) + String(repeating: "▒", count: published - known)
            + String(repeating: "░", count: width - published)
    }

    /// How far it is, in words.
    ///
    /// Everything is counted in notifications: one for each recipient and push service.
    private static func text(
        _ publisher: CampaignMachine, _ waits: JobWaitReason?, perSecond: Double?
    ) -> String {
        let progress = publisher.progress
        let waits = waits.flatMap { $0.kind.isAtWork ? nil : $0 }
        let words = waits?.phrase ?? publisher.silenceWords
        guard publisher.isPublishing else { return SafeText.escaped(words ?? "reading what was published before") }
        var parts = [
            "\(CampaignWords.number(progress.events * progress.outcomesPerEvent)) of "
                + "\(CampaignWords.number(progress.total)) notifications published",
            "\(CampaignWords.number(progress.outcomes.delivered)) delivered",
            "\(CampaignWords.number(progress.outcomes.failed)) failed",
        ]
        if waits?.kind.isPaced ?? true, let perSecond, perSecond > 0 {
            let left = Double(max(0, progress.total - progress.outcomes.known)) / perSecond
            parts.append(CampaignWords.rate(perSecond))
            parts.append("\(CampaignWords.duration(left)) left")
        }
        if let words { parts.append(SafeText.escaped(words)) }
        return parts.joined(separator: "  ")
    }

    // MARK: - The end

    func status(of end: PublicationEnd, _ progress: PublishProgress, name: String) -> ExitStatus {
        let sentence = progress.sentence(
            end, name: name, again: "the same command continues with the rest", pausedBecause: pauseCause)
        if end == .complete {
            console.remark(sentence)
            let isOver = progress.open == 0 || progress.asleepUntil != nil
            return progress.undelivered == 0 && isOver ? .done : .partlyDone
        }
        if end == .interrupted, let start {
            console.remark("It is scheduled for \(start), and nobody is there to publish it then.")
        }
        // Another publisher is at the rest.
        return end.conclude(
            sentence, published: end == .takenOver ? 0 : progress.publishedNow, isWhole: true, console)
    }
}
