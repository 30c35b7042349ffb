import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldText
import HeraldTools

struct CampaignStartOutput {
    let format: OutputFormat
    let preview: CampaignPreview
    let invalidFile: String

    // MARK: - For people

    var previewLines: [String] {
        let (audience, order) = (preview.audience, preview.order)
        let count = audience.recipients
        var lines = [
            "Campaign \(order.text.name)\(preview.isContinued ? ", continued" : ""): "
                + CampaignWords.counted(count, "recipient") + ", " + CampaignWords.counted(audience.repeats, "repeat")
                + ", " + CampaignWords.counted(audience.invalid, "invalid line")
        ]
        lines.append("  read as \(SafeText.escaped(audience.reading.text))")
        if let sum = preview.lineSum { lines.append("  \(SafeText.escaped(sum))") }
        if audience.emptyLines > 0, preview.lineSum == nil {
            lines.append("  \(CampaignWords.counted(audience.emptyLines, "empty line"))")
        }
        for line in audience.invalidLines { lines.append("  \(line.place): \(SafeText.escaped(line.reason))") }
        if audience.invalid > 0 {
            let more = audience.invalid - audience.invalidLines.count
            let rest = more > 0 ? "\(CampaignWords.number(more)) more, all of them" : "they are"
            lines.append("  \(rest) in \(SafeText.escaped(invalidFile))")
        }
        guard count > 0 else { return lines }
        for line in preview.continuation?.lines ?? [] { lines.append("  " + SafeText.escaped(line)) }
        let services = order.text.pushServices
        lines.append(
            "  to \(order.topic), for \(services.joined(separator: " and ")): "
                + CampaignWords.counted(preview.toNotify * services.count, "notification"))
        if let words = preview.startWords { lines.append("  \(words)") }
        if let words = preview.classWords { lines.append("  \(words)") }
        if !preview.kept.isEmpty {
            lines.append(
                "  \(preview.kept.joined(separator: " and ")) of its last start \(preview.kept.count == 1 ? "stays" : "stay")"
                    + (preview.ramp.isEmpty ? "" : "; --ramp none drops the ramp"))
        }
        lines.append("  takes \(preview.duration)\(preview.rate == nil ? "; --rate bounds it" : "")")
        if !preview.stepsLeft.isEmpty {
            lines.append(
                "  begins with \(preview.stepsLeft.map(CampaignWords.number).joined(separator: ", ")), "
                    + "and waits for their outcomes")
        }
        if !preview.holdsLeft.isEmpty {
            lines.append(
                "  waits for you when \(preview.holdsLeft.map(CampaignWords.number).joined(separator: ", ")) are published"
            )
        }
        for warning in preview.warnings { lines.append("  warning: \(SafeText.escaped(warning))") }
        return lines + sampleLines
    }

    /// The first notifications, and the longest and the emptiest of all.
    private var sampleLines: [String] {
        let audience = preview.audience
        func lines(_ sample: AudiencePreview.Sample, _ title: String = "") -> [String] {
            ["  \(title)\(SafeText.escaped(sample.user)): \(SafeText.escaped(CampaignWords.oneLine(sample.message)))"]
                + sample.content.texts.map { name, text in
                    "    \(name): \(SafeText.escaped(CampaignWords.oneLine(text)))"
                }
        }
        var all = audience.samples.flatMap { lines($0) }
        if let longest = audience.longest {
            let size = CampaignWords.counted(longest.characters, "character")
            all +=
                audience.hasOneText ? ["  each has \(size)"] : lines(longest, "the longest, with \(size), is that of ")
        }
        if let emptiest = audience.emptiest {
            let names = emptiest.fields.map { SafeText.escaped($0) }.joined(separator: ", ")
            all += lines(emptiest.sample, "the emptiest, without \(names), is that of ")
        }
        return all
    }

    // MARK: - Data

    func writePreview(_ console: Console) throws {
        try format.write(previewMembers, lines: previewLines, to: console)
    }

    func write(_ end: PublicationEnd, _ progress: PublishProgress, _ console: Console) throws {
        let counts: [(String, Int)] =
            [
                ("recipients", progress.recipients), ("published", progress.published),
                ("publishedNow", progress.publishedNow), ("delivered", progress.outcomes.delivered),
            ]
            + progress.outcomes.allUnreached.map { ($0.name, $0.count) }
            + [("open", progress.open), ("unpublished", progress.unpublished)]
        var members: [JSONValue.Member] = [
            .init("name", .string(preview.order.text.name)), .init("end", .string(end.name(.recipients))),
        ]
        members += counts.map { .init($0.0, .integer($0.1)) }
        if progress.open > 0, let until = progress.asleepUntil {
            members.append(.init("quietUntil", .string(until.text)))
        }
        members += previewMembers.filter { member in !members.contains { $0.name == member.name } }
        // People and notifications are two things: each line names its own.
        let number = CampaignWords.number
        let lines = [
            "campaign       \(preview.order.text.name)", "end            \(end.name(.recipients))",
            "recipients     \(number(progress.recipients)): \(number(progress.published)) published, "
                + "\(number(progress.publishedNow)) of them by this run",
            "notifications  \(number(progress.total)): \(progress.outcomeWords), "
                + "\(number(progress.unpublished)) not published",
        ]
        try format.write(members, lines: lines, to: console)
    }

    private var previewMembers: [JSONValue.Member] {
        preview.members + (preview.audience.invalid > 0 ? [.init("invalidFile", .string(invalidFile))] : [])
    }
}
