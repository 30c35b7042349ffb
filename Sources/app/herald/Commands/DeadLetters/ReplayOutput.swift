import HeraldCommandLine
import HeraldReplay
import HeraldText
import HeraldTools

/// What `herald dlq replay` prints: the plan, and how it was carried out.
struct ReplayOutput {
    private let format: OutputFormat
    private let plan: ReplayPlan
    private let options: ReplayOptions
    private let outcomesPerSecond: Double?

    /// - Parameter outcomesPerSecond: how fast the workers have shown that they are.
    init(_ format: OutputFormat, plan: ReplayPlan, options: ReplayOptions, outcomesPerSecond: Double?) {
        self.format = format
        self.plan = plan
        self.options = options
        self.outcomesPerSecond = outcomesPerSecond
    }

    // MARK: - For people

    var planLines: [String] {
        var lines = [
            "\(TopicsTool.counted(plan.matched, "dead letter")) \(plan.matched == 1 ? "matches" : "match"); "
                + "\(plan.count) would be replayed."
        ]
        for omission in ReplayRules.Omission.allCases {
            if let count = plan.leftOut[omission] { lines.append("  \(count) left out: \(omission.words)") }
        }
        if let line = formerLine { lines.append(line) }
        for (topic, count) in plan.topics.sorted(by: { $0.key < $1.key }) { lines.append("  \(count) to \(topic)") }
        guard plan.count > 0 else { return lines }
        let services = plan.pushServices.sorted { $0.key < $1.key }.map { "\(SafeText.escaped($0.key)) \($0.value)" }
        if !services.isEmpty { lines.append("  calls: \(services.joined(separator: ", "))") }
        if let earliest = plan.earliest, let latest = plan.latest {
            lines.append("  from \(earliest.text) to \(latest.text)")
        }
        lines.append(
            "  in batches of \(options.ramp.text), stopping above \(Self.percent(options.stopShare)) bad outcomes")
        lines.append("  takes \(duration)")
        return lines
    }

    /// What came of former replays, for who replays again.
    private var formerLine: String? {
        let count = plan.replayedBefore.values.reduce(0, +)
        guard count > 0 else { return nil }
        let parts = ReplayOutcomes.Outcome.allCases.compactMap { outcome in
            plan.replayedBefore[outcome].map { "\($0) \(outcome.words)" }
        }
        return "  \(count) of these \(count == 1 ? "was" : "were") replayed before: \(parts.joined(separator: ", "))"
    }

    private var duration: String {
        guard let seconds else { return "as long as the workers need; --rate bounds it" }
        let time = DurationText.format(.seconds(Int64(seconds.rounded(.up))))
        if let rate = options.rate { return "at least \(time) at \(Self.rate(rate)), and the waits for outcomes" }
        return "about \(time) if the workers are as fast as in the busiest minute of the last day "
            + "(\(Self.rate(outcomesPerSecond ?? 0)) outcomes); --rate bounds it"
    }

    private var seconds: Double? {
        if let rate = options.rate { return plan.seconds(at: rate) }
        return outcomesPerSecond.map { Double(plan.outcomeCount) / $0 }
    }

    private static func rate(_ rate: Double) -> String {
        rate.rounded() == rate ? "\(Int(rate))/s" : "\(Int((rate * 60).rounded()))/m"
    }

    private static func percent(_ share: Double) -> String {
        let number = share * 100
        return number.rounded() == number ? "\(Int(number))%" : "\(number)%"
    }

    static func batchLine(_ progress: ReplayProgress) -> String {
        "Batch \(progress.batch) begins; so far \(progress.replayed) of \(progress.planned) replayed, "
            + "\(progress.delivered) delivered, \(progress.failed) failed."
    }

    static func progressLine(_ progress: ReplayProgress, _ meter: ThroughputMeter) -> String {
        "\(progress.replayed)/\(progress.planned) replayed  \(progress.delivered) delivered  \(progress.failed) failed  "
            + "\(progress.open) open"
            + (progress.isWaiting
                ? "  waiting for outcomes"
                : meter.words(left: Int64(progress.planned - progress.replayed - progress.skipped)))
    }

    // MARK: - Data

    func writePlan(_ console: Console) throws {
        try format.write(planMembers, lines: planLines, to: console)
    }

    /// There was nothing to do, which a script wants to read too.
    func writeNothing(_ console: Console) throws {
        if format != .table { try format.write(planMembers + [.init("end", "complete")], lines: [], to: console) }
    }

    func write(_ report: ReplayReport, _ console: Console) throws {
        let progress = report.progress
        let counts: [(String, Int)] = [
            ("replayed", progress.replayed), ("skipped", progress.skipped), ("delivered", progress.delivered),
            ("failed", progress.failed), ("open", progress.open), ("tooLarge", progress.tooLarge),
        ]
        let members =
            [.init("job", .string(report.job)), .init("end", .string(report.end.name))]
            + counts.map { JSONValue.Member($0.0, .integer($0.1)) } + planMembers
        let lines =
            ["job        \(report.job)", "end        \(report.end.name)"]
            + counts.map { "\($0.0.fitted(toColumns: 11))\($0.1)" }
        try format.write(members, lines: lines, to: console)
    }

    private var planMembers: [JSONValue.Member] {
        let leftOut = ReplayRules.Omission.allCases.compactMap { omission in
            plan.leftOut[omission].map { JSONValue.Member(omission.rawValue, .integer($0)) }
        }
        var members: [JSONValue.Member] = [
            .init("matched", .integer(plan.matched)), .init("planned", .integer(plan.count)),
            .init("leftOut", .object(leftOut)), .init("topics", Self.counts(plan.topics)),
            .init("pushServices", Self.counts(plan.pushServices)),
            .init("ends", Self.counts(plan.ends.mapValues { Int($0) })),
        ]
        if options.isAgain {
            let before = ReplayOutcomes.Outcome.allCases.map {
                JSONValue.Member($0.rawValue, .integer(plan.replayedBefore[$0] ?? 0))
            }
            members.append(.init("replayedBefore", .object(before)))
        }
        if let earliest = plan.earliest { members.append(.init("earliest", .string(earliest.text))) }
        if let latest = plan.latest { members.append(.init("latest", .string(latest.text))) }
        if let seconds { members.append(.init("seconds", .integer(Int(seconds.rounded(.up))))) }
        return members
    }

    private static func counts(_ counts: [String: Int]) -> JSONValue {
        .object(counts.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .integer($0.value)) })
    }
}

extension ReplayRules.Omission {
    fileprivate var words: String {
        switch self {
        case .replayed: "replayed already (--again replays once more)"
        case .resolved: "resolved (--again replays nevertheless)"
        case .expired: "expired: too late to send"
        case .campaignCancelled: "their campaign was cancelled"
        case .overTheCap: "replayed as often as retry.replays allows"
        case .otherPushServices: "none of --only-pns failed"
        case .incomplete: "too large for their value or key to be kept: publish their requests (herald-origin) again"
        case .unreadable: "no dead letters of Herald's"
        }
    }
}
