import HeraldCommandLine
import HeraldEvents
import HeraldReplay
import HeraldText
import HeraldTools

struct ReplayOutput {
    let format: OutputFormat
    let plan: ReplayPlan
    let options: ReplayOptions
    let warnings: [String]
    let forecast: ReplayForecast
    /// Where what others could not process comes back; `nil` where workers report outcomes.
    let watchedTopic: String?

    // MARK: - For people

    var planLines: [String] {
        var lines = [
            "\(TopicsTool.counted(plan.matched, "dead letter")) \(plan.matched == 1 ? "matches" : "match"); "
                + "\(plan.count) would be replayed"
                + (watchedTopic == nil && plan.count > 0
                    ? ": \(TopicsTool.counted(plan.outcomeCount, "notification"))." : ".")
        ]
        for omission in ReplayRules.Omission.allCases {
            if let count = plan.leftOut[omission] {
                lines.append("  \(count) left out: \(SafeText.escaped(plan.words(of: omission)))")
            }
        }
        if let line = formerLine { lines.append(line) }
        for (topic, count) in plan.topics.sorted(by: { $0.key < $1.key }) { lines.append("  \(count) to \(topic)") }
        guard plan.count > 0 else { return lines }
        lines += plan.corrections.map { "  \($0.place): \(SafeText.escaped($0.corrected.words))" }
        if plan.count > plan.corrections.count, !plan.corrections.isEmpty {
            lines.append("  and \(plan.count - plan.corrections.count) more are corrected alike")
        }
        let services = plan.pushServices.sorted { $0.key < $1.key }.map { "\(SafeText.escaped($0.key)) \($0.value)" }
        if !services.isEmpty { lines.append("  push services: \(services.joined(separator: ", "))") }
        if let doubt = forecast.doubt { lines.append("  \(doubt)") }
        lines += warnings.map { "  \(SafeText.escaped($0))" }
        if let earliest = plan.earliest, let latest = plan.latest {
            lines.append("  from \(earliest.text) to \(latest.text)")
        }
        lines += pace
        lines.append("  takes \(forecast.words)")
        return lines
    }

    private var pace: [String] {
        let share = ShareText.text(options.stopShare)
        guard let watchedTopic else {
            return ["  in batches of \(options.ramp.text), stopping above \(share) bad outcomes"]
        }
        let wait = DurationText.format(options.patience)
        return [
            "  in batches of \(options.ramp.text), \(wait) after each, stopping when more than \(share) of a batch come back",
            "  nobody reports whether they are processed: all that is seen is what becomes a dead letter in \(watchedTopic) again",
        ]
    }

    /// What came of former replays, for an operator who replays again.
    private var formerLine: String? {
        let count = plan.replayedBefore.values.reduce(0, +)
        guard count > 0 else { return nil }
        let parts = ReplayOutcomes.Outcome.allCases.compactMap { outcome in
            plan.replayedBefore[outcome].map { "\($0) \(outcome.words)" }
        }
        return "  \(count) of these \(count == 1 ? "was" : "were") replayed before: \(parts.joined(separator: ", "))"
    }

    func batchLine(_ progress: ReplayProgress) -> String {
        "Batch \(progress.batch) begins; so far \(progress.replayed) of \(progress.planned) dead letters replayed, "
            + (watchedTopic == nil
                ? "\(TopicsTool.counted(progress.delivered, "notification")) delivered\(progress.suppressedWords), "
                    + "\(progress.failed) failed."
                : "\(progress.failed) came back.")
    }

    func progressLine(_ progress: ReplayProgress, _ waits: JobWaitReason?, _ meter: ThroughputMeter) -> String {
        let outcomes =
            watchedTopic == nil
            ? "\(progress.delivered) delivered\(progress.suppressedWords)  \(progress.failed) failed  \(progress.open) open"
            : "\(progress.failed) came back"
        let rest =
            if let waits, !waits.kind.isAtWork { "  " + SafeText.escaped(waits.phrase) } else {
                meter.words(left: Int64(progress.planned - progress.replayed - progress.skipped))
            }
        return "\(progress.replayed)/\(progress.planned) replayed  \(outcomes)" + rest
    }

    // MARK: - Data

    func writePlan(_ console: Console) throws {
        try format.write(forecast.members + [warningsMember], lines: planLines, to: console)
    }

    private var warningsMember: JSONValue.Member { .init("warnings", .array(warnings.map { .string($0) })) }

    /// There was nothing to do, which a script wants to read too.
    func writeNothing(_ console: Console) throws {
        if format != .table { try format.write(forecast.members + [.init("end", "complete")], lines: [], to: console) }
    }

    func write(_ report: ReplayReport, _ console: Console) throws {
        let members = report.members + forecast.members
        let lines =
            ["job        \(report.job)", "end        \(report.end.name(.letters))"]
            + report.progress.counts.map { "\($0.name.fitted(toColumns: 11))\($0.count)" }
        try format.write(members, lines: lines, to: console)
    }
}
