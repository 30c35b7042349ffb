internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTime
internal import HeraldTools

extension Lease {
    /// Another job has it.
    var busy: ToolFailure {
        ToolFailure(
            "\(owner) is at work on the dead letters (job \(job), \(work)); "
                + "wait for its end, or stop it: what it has replayed stays marked")
    }
}

extension ReplayContext {
    /// Why a job did not begin.
    func beginFailure(_ failure: BatchWriter.Failure) -> ToolFailure {
        switch failure {
        case .lost(.fenced):
            ToolFailure("somebody else has just begun to work on the dead letters; nothing was replayed")
        case .lost(.unreachable(let error)):
            ToolFailure("no transaction can be begun: \(error.words)", kind: .unreachable, detail: error.description)
        case .lost(.unclaimable(let error)) where error.kind == .unsupported: ToolFailure(noTransactions: error)
        case .lost(.inDoubt(let error)), .lost(.unclaimable(let error)), .refused(let error):
            ToolFailure(
                "no transaction can be begun", error,
                allow: KafkaPermission(
                    .write, on: .transactionalID(transactionalID), .topic(topics.state), .topic(topics.audit),
                    .topic(destinations)))
        }
    }
}

extension BatchWriter.Failure {
    /// How a job ends that does not go on.
    ///
    /// - Parameter work: its kind.
    func end(_ work: String) -> PublicationEnd {
        switch self {
        case .lost(.fenced): .takenOver
        case .refused(let error), .lost(.inDoubt(let error)), .lost(.unclaimable(let error)):
            .failed(ToolFailure("the broker takes no \(work)", error))
        case .lost(.unreachable(let error)):
            .failed(
                ToolFailure(
                    "no broker answers any more (\(error.words)); start it again: the marks tell what was done",
                    kind: .unreachable))
        }
    }
}

extension LetterPublication.Order {
    /// What the job's name begins with.
    package var kind: String {
        switch self {
        case .replay: "replay"
        case .resolve: "resolve"
        }
    }

    private var selection: String {
        switch self {
        case .replay(_, _, let options): options.selection
        case .resolve(_, let selection, _): selection
        }
    }

    /// What the lease says.
    var words: String { "\(kind) \(selection.prefix(500))" }

    /// The audit entry of its beginning.
    func beginning(_ context: ReplayContext, at moment: WallTime) -> AuditEntry {
        var entry = AuditEntry(action: "dlq.\(kind)", phase: "started", at: moment.text, by: context.operatorName)
        entry.selection = selection
        switch self {
        case .replay(let plan, let rules, let options):
            entry.reason = options.reason
            entry.planned = plan.count
            entry.ends = plan.ends
            entry.options = Self.described(rules, options)
        case .resolve(let plan, _, let note):
            entry.reason = note
            entry.planned = plan.count
        }
        return entry
    }

    private static func described(_ rules: ReplayRules, _ options: ReplayOptions) -> [String: String] {
        var described = ["ramp": options.ramp.text, "stop-if-failures": ShareText.text(options.stopShare)]
        if let rate = options.rate { described["rate"] = "\(rate)/s" }
        if let destination = rules.foreign?.destination { described["to"] = destination }
        if let only = rules.onlyPushServices { described["only-pns"] = only.joined(separator: ",") }
        if rules.hasFreshKey { described["fresh-key"] = "true" }
        if rules.isAgain { described["again"] = "true" }
        if let correction = rules.correction { described["correction"] = correction.words }
        return described
    }

    /// The audit entry of its end.
    func ending(
        _ context: ReplayContext, _ end: PublicationEnd, _ progress: ReplayProgress, at moment: WallTime
    ) -> AuditEntry {
        var entry = AuditEntry(action: "dlq.\(kind)", phase: "ended", at: moment.text, by: context.operatorName)
        entry.end = end.name(.letters)
        switch self {
        case .replay:
            entry.counts = Dictionary(uniqueKeysWithValues: progress.counts.map { ($0.name, $0.count) })
        case .resolve(_, _, let note):
            entry.reason = note
            entry.counts = ["resolved": progress.replayed]
        }
        return entry
    }
}
