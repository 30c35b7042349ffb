import HeraldCampaigns
import HeraldCommandLine
import HeraldText
import HeraldTools

/// What `herald campaign start` prints: the preview, and how it was carried out.
struct CampaignStartOutput {
    private let format: OutputFormat
    private let order: CampaignOrder
    private let preview: AudiencePreview
    private let invalidFile: String
    private let rate: Double?
    private let ramp: [Int]
    private let isContinued: Bool

    init(
        _ format: OutputFormat, _ order: CampaignOrder, _ preview: AudiencePreview, invalidFile: String,
        definition: CampaignDefinition?
    ) {
        self.format = format
        self.order = order
        self.preview = preview
        self.invalidFile = invalidFile
        rate = order.rate ?? definition?.rate
        ramp = order.ramp ?? definition?.ramp ?? []
        isContinued = definition != nil
    }

    // MARK: - For people

    var previewLines: [String] {
        let count = preview.recipients
        var lines = [
            "Campaign \(order.text.name)\(isContinued ? ", continued" : ""): \(Self.counted(count, "recipient")), "
                + "\(Self.counted(preview.repeats, "repeat")), \(Self.counted(preview.invalid, "invalid line"))"
        ]
        for line in preview.invalidLines { lines.append("  line \(line.line): \(SafeText.escaped(line.reason))") }
        if preview.invalid > 0 {
            let more = preview.invalid - preview.invalidLines.count
            let rest = more > 0 ? "\(CampaignWords.number(more)) more, all of them" : "they are"
            lines.append("  \(rest) in \(SafeText.escaped(invalidFile))")
        }
        guard count > 0 else { return lines }
        let services = order.text.pushServices
        lines.append(
            "  to \(order.topic), for \(services.joined(separator: " and ")): "
                + Self.counted(count * services.count, "notification"))
        lines.append("  takes \(duration)")
        if !ramp.isEmpty {
            lines.append(
                "  begins with \(ramp.map(CampaignWords.number).joined(separator: ", ")), and waits for their outcomes")
        }
        lines.append("  the longest message has \(Self.counted(preview.longestMessage, "byte"))")
        for warning in warnings { lines.append("  warning: \(SafeText.escaped(warning))") }
        for sample in preview.samples {
            lines.append("  \(SafeText.escaped(sample.user)): \(SafeText.escaped(sample.message))")
        }
        return lines
    }

    private var warnings: [String] {
        preview.emptyFields.map { field in
            "\(Self.counted(field.count, "recipient")) \(field.count == 1 ? "has" : "have") nothing for {{\(field.name)}}, "
                + "the first in line \(field.line): \(SafeText.quoted(field.message))"
        }
            + order.text.template.singleBraces.map { name in
                "{\(name)} stands as it is in the message; a field has two braces: {{\(name)}}"
            }
    }

    private var duration: String {
        guard let seconds else { return "as long as the workers need; --rate bounds it" }
        // One recipient waits for nobody.
        guard seconds > 0 else { return "a moment" + (ramp.isEmpty ? "" : ", and the waits for outcomes") }
        return "at least \(CampaignWords.duration(Double(seconds))) at \(CampaignWords.rate(rate ?? 0))"
            + (ramp.isEmpty ? "" : ", and the waits for outcomes")
    }

    private var seconds: Int? {
        rate.map { Int((Double(max(0, preview.recipients - 1)) / $0).rounded(.up)) }
    }

    private static func counted(_ count: Int, _ noun: String) -> String {
        "\(CampaignWords.number(count)) \(noun)\(count == 1 ? "" : "s")"
    }

    // MARK: - Data

    func writePreview(_ console: Console) throws {
        try format.write(previewMembers, lines: previewLines, to: console)
    }

    func write(_ end: PublishEnd, _ progress: PublishProgress, _ console: Console) throws {
        let counts: [(String, Int)] = [
            ("recipients", progress.recipients), ("published", progress.published),
            ("publishedNow", progress.publishedNow), ("delivered", progress.outcomes.delivered),
            ("failed", progress.failed), ("open", progress.open),
        ]
        var members: [JSONValue.Member] = [
            .init("name", .string(order.text.name)), .init("end", .string(end.name)),
        ]
        members += counts.map { .init($0.0, .integer($0.1)) }
        members += previewMembers.filter { member in !members.contains { $0.name == member.name } }
        let lines =
            ["campaign      \(order.text.name)", "end           \(end.name)"]
            + counts.map { "\($0.0.fitted(toColumns: 14))\($0.1)" }
        try format.write(members, lines: lines, to: console)
    }

    private var previewMembers: [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("name", .string(order.text.name)), .init("topic", .string(order.topic)),
            .init("pns", .array(order.text.pushServices.map { .string($0) })),
            .init("recipients", .integer(preview.recipients)), .init("repeats", .integer(preview.repeats)),
            .init("invalid", .integer(preview.invalid)),
            .init(
                "invalidLines",
                .array(
                    preview.invalidLines.map {
                        .object([.init("line", .integer($0.line)), .init("reason", .string($0.reason))])
                    })),
            .init(
                "samples",
                .array(
                    preview.samples.map {
                        .object([.init("user", .string($0.user)), .init("message", .string($0.message))])
                    })),
            .init("longestMessageBytes", .integer(preview.longestMessage)),
        ]
        if !warnings.isEmpty { members.append(.init("warnings", .array(warnings.map { .string($0) }))) }
        if preview.invalid > 0 { members.append(.init("invalidFile", .string(invalidFile))) }
        if let rate { members.append(.init("ratePerSecond", .number(rate))) }
        if !ramp.isEmpty { members.append(.init("ramp", .array(ramp.map { .integer($0) }))) }
        if let seconds { members.append(.init("seconds", .integer(seconds))) }
        return members
    }
}
