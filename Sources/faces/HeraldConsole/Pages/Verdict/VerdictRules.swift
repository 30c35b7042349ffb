import HeraldEvents
import HeraldKafka
import HeraldText
import HeraldTime
import HeraldTools

extension Verdict {
    /// The verdict on a situation: pure.
    init(_ situation: Situation) {
        let rules = VerdictRules(situation)
        var findings = rules.findings
        // What is not known is not well.
        if !findings.contains(where: { $0.level == .bad || $0.level == .warn || $0.key == "not-known" }) {
            findings.insert(rules.quiet, at: 0)
        }
        // In the order of the rules within a level.
        let sorted = [.bad, .warn, .good, .unknown].flatMap { level in findings.filter { $0.level == level } }
        self.init(
            sorted[0], others: Array(sorted.dropFirst()), retrying: situation.group.observation?.retrying)
    }
}

/// The rules, in the order in which they matter.
struct VerdictRules {
    /// A partition in which something is due, and nothing becomes done for so long, is stuck: a user whose call hangs blocks it
    /// for a quarter of that.
    static let stuckAfter: Milliseconds = .minutes(1)
    static let oldestSeconds = 3_600.0
    static let leastLag = 100.0
    static let lagSeconds = 10.0
    /// A failure is no news any more after so long, when nothing waits for a retry.
    static let newsAge: Milliseconds = .seconds(10)
    /// So many names are listed at most.
    static let namesShown = 5

    let situation: Situation

    init(_ situation: Situation) {
        self.situation = situation
    }

    var workers: [WorkerObservation] { situation.workers }
    private var answering: [WorkerObservation] { workers.filter { $0.page != nil } }
    private var silent: [WorkerObservation] { workers.filter { if case .silent = $0.state { true } else { false } } }
    private var isAnyReady: Bool { workers.contains(where: \.isReady) }
    var observation: GroupObservation? {
        if case .known(let observation) = situation.group { observation } else { nil }
    }
    private var waiting: Int64? { situation.group.observation?.waiting }
    private var isGroupEmpty: Bool { observation?.members.isEmpty == true }
    /// Whether nothing takes events at all, for a reason that is found elsewhere.
    private var isStandingStill: Bool { isInOutage || (isGroupEmpty && !isAnyReady) }
    var isInOutage: Bool {
        answering.contains { $0.page?.reasons.contains { $0.reason.hasPrefix("outage-") } == true }
    }

    /// Whether it is known why nothing becomes done: then partitions are not stuck by themselves, nor just afterwards.
    var isStandstillExplained: Bool {
        situation.group.isOutOfReach || isStandingStill || (!answering.isEmpty && !isAnyReady)
    }

    /// A cause stands before its consequence.
    var findings: [Finding] {
        let causes = brokers + absence + answers + calls + retries + silence + partitions + strangers + transactions
        return consequences(causes) + unanswered + campaigns + age + deadLetters + unread + ignorance + secrecy
    }

    /// When nothing is wrong.
    var quiet: Finding {
        guard isAnyReady else {
            return Finding("unknown", .unknown, "Looking", "the workers and the brokers have not answered yet")
        }
        let rate = situation.notificationsPerSecond
        let cause =
            rate >= 0.5
            ? "\(counted(whole(rate), "notification", "notifications")) a second"
            : waiting.map { $0 == 0 ? "nothing waits" : counted($0, "event waits", "events wait") }
        return Finding("delivering", .good, "Delivering", cause, waiting: waiting)
    }

    /// Without a worker's answer it is unknown whether anything is delivered.
    ///
    /// Neither an empty backlog in Kafka nor brokers that answer show it: what cannot be written does not wait there.
    private var ignorance: [Finding] {
        guard workers.isEmpty, let observation, !observation.members.isEmpty else { return [] }
        let members = observation.memberWords
        let what =
            observation.waiting == 0 ? "nothing waits" : counted(observation.waiting, "event waits", "events wait")
        return [
            Finding(
                "not-known", .unknown, "Not known whether the workers deliver",
                "none of their admin ports is known here; as far as Kafka shows, the group has \(members), and \(what)",
                waiting: waiting, next: .nameWorkers)
        ]
    }

    // MARK: Kafka

    private var brokers: [Finding] {
        // Workers know which partitions it is about.
        if !answering.isEmpty, answering.allSatisfy({ $0.has("too-few-brokers") }) { return [] }
        switch situation.group {
        case .unreachable(let reason, _) where isAnyReady:
            return [
                Finding(
                    "console-brokers", .warn, "The workers deliver, and the console reaches no broker", reason,
                    next: .brokers)
            ]
        case .unreachable(let reason, _):
            // A worker that says the same says nothing new.
            return [
                Finding("brokers-unreachable", .bad, "Brokers unreachable", reason, waiting: waiting, next: .brokers)
            ]
        case .tooFewBrokers(let reason, _):
            let others = isAnyReady ? "; workers say that they deliver" : ""
            return [
                Finding(
                    "too-few-brokers", isAnyReady ? .warn : .bad, "Too few brokers", reason + others, waiting: waiting,
                    next: .against(.tooFewBrokers))
            ]
        case .unasked, .known, .untold: return []
        }
    }

    private var absence: [Finding] {
        guard let observation, observation.members.isEmpty, answering.isEmpty else { return [] }
        let (waiting, retrying) = (observation.waiting, observation.retrying)
        guard waiting + retrying > 0 else {
            return [Finding("no-worker", .warn, "No worker runs", "nothing waits", waiting: 0, next: .noWorker)]
        }
        let what =
            waiting == 0
            ? counted(retrying, "retry waits", "retries wait") : counted(waiting, "event waits", "events wait")
        let oldest =
            observation.oldest(ofRetries: waiting == 0).map { ", the oldest since \($0.clock(now: situation.now))" }
            ?? ""
        return [Finding("no-worker", .bad, "No worker runs", what + oldest, waiting: waiting, next: .noWorker)]
    }

    private var partitions: [Finding] {
        guard let observation, !isStandingStill else { return [] }
        var findings: [Finding] = []
        if !observation.leaderless.isEmpty, !answering.contains(where: { $0.has("partitions-without-leader") }) {
            findings.append(
                Finding(
                    "partitions-without-leader", .bad, "Degraded",
                    "\(names(observation.leaderless)) \(observation.leaderless.count == 1 ? "has" : "have") no leader",
                    next: .leaders))
        }
        let stuck = observation.partitions.compactMap { partition -> GroupObservation.Partition? in
            var partition = partition
            // What an outage held back has not stood still by itself.
            if let still = partition.stillSince, let end = situation.standstillEnd {
                partition.stillSince = max(still, end)
            }
            let age = partition.stillSince.map { situation.now.time(since: $0) }
            return age.map { $0 >= Self.stuckAfter } ?? false ? partition : nil
        }
        if let finding = finding(stuck: stuck) { findings.append(finding) }
        guard observation.isStable else {
            if !observation.members.isEmpty {
                findings.append(
                    Finding(
                        "rebalance", .warn, "Degraded",
                        "the group \(SafeText.escaped(observation.name)) moves its partitions "
                            + "(\(SafeText.escaped(observation.state)))",
                        next: .rebalance))
            }
            return findings
        }
        let orphans = observation.partitions.filter { !$0.hasMember && $0.lag > 0 }
        if !orphans.isEmpty {
            let behind = orphans.reduce(0) { $0 + $1.lag }
            findings.append(
                Finding(
                    "no-member", .bad, "Degraded",
                    "no worker has \(names(orphans.map(\.place))): "
                        + counted(behind, "event waits there", "events wait there"), waiting: behind,
                    next: .rebalance))
        }
        return findings
    }

    /// What no worker warns of yet, or none can be asked about.
    private var strangers: [Finding] {
        let reason = ReadinessWarning.strangerInGroup.rawValue
        guard let observation, let words = observation.strangers.words(in: observation.name),
            !answering.contains(where: { $0.has(reason) })
        else { return [] }
        return [
            Finding(
                reason, .warn, Self.heading(reason).headline, SafeText.escaped(words), next: .against(word: reason))
        ]
    }

    /// What no worker warns of, because none can be asked.
    private var transactions: [Finding] {
        let reason = ReadinessWarning.behindOpenTransaction.rawValue
        guard let observation, let first = observation.openTransactions.first,
            !answering.contains(where: { $0.has(reason) })
        else { return [] }
        var next = NextStep.against(word: reason)
        next.sentence = SentenceParts("\(first.words): \(first.remedy).").step ?? next.sentence
        let held = observation.partitions.reduce(0) { $0 + $1.held }
        return [
            Finding(
                reason, .warn, Self.heading(reason).headline, SafeText.escaped(first.words), since: first.since,
                waiting: held, next: next)
        ]
    }

    private func finding(stuck: [GroupObservation.Partition]) -> Finding? {
        guard let worst = stuck.max(by: { $0.due < $1.due }) else { return nil }
        let behind = stuck.reduce(0) { $0 + $1.due }
        let one = stuck.count == 1
        return Finding(
            "stuck", .bad, one ? "Partition \(worst.place.partition) is stuck" : "\(stuck.count) partitions are stuck",
            "\(grouped(behind)) behind in "
                + (one ? worst.place.topic : names(stuck.sorted { $0.due > $1.due }.map(\.place))),
            since: stuck.compactMap(\.stillSince).min(), waiting: behind, next: .lag)
    }

    private var secrecy: [Finding] {
        guard case .untold(let reason) = situation.group else { return [] }
        return [Finding("group-untold", .unknown, "The brokers do not tell of the group", reason, next: .brokers)]
    }

    // MARK: Workers

    /// What workers give as reasons, each once, however many say it.
    private var answers: [Finding] {
        var reasons: [WorkerSurvey.Page.Reason] = []
        for worker in answering {
            let page = worker.page
            for reason in (page?.reasons ?? []) + (page?.warnings ?? [])
            where !reasons.contains(where: { $0.reason == reason.reason }) {
                reasons.append(reason)
            }
        }
        let told = Set(brokers.map(\.key))
        let found = reasons.filter { reason in
            switch ReadinessReason(word: reason.reason) {
            case .brokersUnreachable: !situation.group.isOutOfReach
            case .tooFewBrokers: !told.contains(reason.reason)
            // What the last few calls of one worker were is chance while a share of all fails.
            case .backendUnreachable: !isFailingInPart
            case .some: true
            case nil:
                switch ReadinessWarning(rawValue: reason.reason) {
                // The calls themselves tell more.
                case .lagGrowing, .pushServiceFailing: false
                case .publisherFaults, .behindOpenTransaction, .strangerInGroup, .brokersThrottle, .recordRefused,
                    .offsetsPassedOver, nil:
                    true
                }
            }
        }.map(finding)
        // Not ready, and no reason that is known here.
        let speechless = answering.filter { !$0.isReady && $0.page?.reasons.isEmpty == true }
        guard reasons.isEmpty, !speechless.isEmpty else { return found }
        return [
            Finding(
                "not-ready", .bad, "Not delivering", "a worker says so, without a reason", next: .against(word: ""))
        ]
    }

    // MARK: Lag

    private static let lag = ReadinessWarning.lagGrowing.rawValue
    /// Findings of the console's own that a growing lag is the consequence of, whatever else they are about.
    private static let causesOfLag: Set = [
        "calls-fail", "throttled", "credentials", "service-dead", "no-worker", "no-member",
        ReadinessWarning.behindOpenTransaction.rawValue, ReadinessWarning.brokersThrottle.rawValue,
    ]
    /// Those that have room for it in their own words.
    private static let tellsLag: Set = ["calls-fail", "throttled", "credentials", "service-dead"]

    private static func isCauseOfLag(_ finding: Finding) -> Bool {
        causesOfLag.contains(finding.key) || ReadinessReason(word: finding.key)?.holdsEventsUp ?? false
    }

    /// The lag that grows, as the consequence of what makes it grow; a finding of its own when nothing else is wrong.
    private func consequences(_ causes: [Finding]) -> [Finding] {
        guard let growth = lagGrowth else { return causes }
        var causes = causes
        if let first = causes.firstIndex(where: { Self.tellsLag.contains($0.key) }) {
            causes[first].cause = causes[first].cause.map { $0 + "; its consequence: \(growth.what)" }
            causes[first].waiting = causes[first].waiting ?? waiting
        }
        guard !causes.contains(where: Self.isCauseOfLag) else { return causes }
        var finding = finding(growth.reason)
        finding.cause = growth.what
        return causes + [finding]
    }

    /// What a worker warns of, by the console's own figure when it has one: a worker knows only its own partitions.
    ///
    /// A lag that grew over the last minute and is gone, or is a few seconds of work, is no news.
    private var lagGrowth: (reason: WorkerSurvey.Page.Reason, what: String)? {
        let all = answering.flatMap { ($0.page?.reasons ?? []) + ($0.page?.warnings ?? []) }
        guard let reason = all.first(where: { $0.reason == Self.lag }) else { return nil }
        if let waiting,
            Double(waiting) < max(Self.leastLag, Self.lagSeconds * situation.notificationsPerSecond)
        {
            return nil
        }
        guard let growth = situation.lagGrowth else { return (reason, SentenceParts(reason.sentence).what) }
        guard growth >= 0.5 else { return nil }
        return (reason, "the lag grows by \(counted(whole(growth.rounded()), "event", "events")) each second")
    }

    private func finding(_ reason: WorkerSurvey.Page.Reason) -> Finding {
        let concerned = answering.filter { $0.has(reason.reason) }
        let isWarning = concerned.allSatisfy(\.isReady)
        let isAll = concerned.count == answering.count
        let parts = SentenceParts(reason.sentence)
        var next = NextStep.against(word: reason.reason)
        if let step = parts.step { next.sentence = step }
        let share = isAll || isWarning ? "" : "\(concerned.count) of \(answering.count) workers: "
        let (headline, level) = Self.heading(reason.reason)
        let since = concerned.flatMap { $0.page?.reasons ?? [] }.filter { $0.reason == reason.reason }
            .compactMap { $0.since.flatMap { RFC3339.parse(Array($0.utf8).span.bytes) } }.min()
        return Finding(
            reason.reason, isAll && !isWarning ? level : .warn, isAll || isWarning ? headline : "Degraded",
            share + parts.what, since: since.flatMap { $0 <= situation.now ? $0 : nil }, waiting: waiting, next: next)
    }

    /// What a reason of `/readyz` amounts to, when all workers give it.
    private static func heading(_ reason: String) -> (headline: String, level: Finding.Level) {
        switch ReadinessReason(word: reason) {
        case .starting: ("Starting", .warn)
        case .stopping: ("Stopping", .warn)
        case .unassigned: ("Waiting for partitions", .warn)
        case .partitionsWithoutLeader, .offsetsMissing: ("Degraded", .bad)
        case .brokersUnreachable: ("Brokers unreachable", .bad)
        case .tooFewBrokers: ("Too few brokers", .bad)
        case .noProgress: ("No progress", .bad)
        case .outage: ("Outage", .bad)
        case .stuck, .groupRefuses, .loginFailed, .topicsMissing, .recordsRefused, .commitsFailing, .backendUnreachable:
            ("Not delivering", .bad)
        case nil:
            switch ReadinessWarning(rawValue: reason) {
            case .lagGrowing: ("Behind", .warn)
            case .publisherFaults: ("Events are published wrongly", .warn)
            case .pushServiceFailing: ("A push service fails", .warn)
            case .behindOpenTransaction: ("A transaction is open", .warn)
            case .strangerInGroup: ("Another program takes events", .warn)
            case .brokersThrottle: ("Brokers throttle", .warn)
            case .recordRefused: ("Records are refused", .warn)
            case .offsetsPassedOver: ("Offsets were passed over", .warn)
            // Of a worker that is newer than this console.
            case nil: ("Not delivering", .bad)
            }
        }
    }

    private var silence: [Finding] {
        guard !silent.isEmpty, case .silent(let reason)? = silent.first?.state else { return [] }
        // Then it is clear why.
        guard !isGroupEmpty else { return [] }
        if situation.group.isOutOfReach, answering.isEmpty { return [] }
        let names = silent.prefix(Self.namesShown).map(\.address).joined(separator: ", ")
        let count =
            answering.isEmpty
            ? "no worker answers"
            : "\(silent.count) of \(workers.count) workers \(silent.count == 1 ? "does" : "do") not answer"
        return [
            Finding(
                "silent", .warn, "Degraded", "\(count) at \(names) (\(reason))", waiting: waiting, next: .silentWorker)
        ]
    }

    // MARK: Numbers

    /// What a campaign's own events say is about that campaign.
    private var campaigns: [Finding] {
        situation.campaigns.map { trouble in
            trouble.isPaused
                ? Finding(
                    "campaign-paused \(trouble.name)", .warn, "Campaign \(trouble.name) is paused", trouble.cause,
                    since: trouble.since, next: .campaignPaused(trouble.name))
                : Finding(
                    "campaign-fails \(trouble.name)", .warn, "Campaign \(trouble.name) fails in part", trouble.cause,
                    next: .campaignFails(trouble.name))
        }
    }

    private var age: [Finding] {
        guard !isStandingStill else { return [] }
        let seconds = workers.compactMap { $0.numbers?.oldestSeconds }.max() ?? 0
        guard seconds >= Self.oldestSeconds, seconds < 1e9 else { return [] }
        let since = situation.now.advanced(by: .milliseconds(-whole(seconds * 1_000)))
        return [
            Finding(
                "oldest", .warn, "An event is late", "the oldest has waited since \(since.clock(now: situation.now))",
                waiting: waiting, next: .oldest)
        ]
    }

    /// One finding for each cause, the one that began last first: the others are known already.
    private var deadLetters: [Finding] {
        let causes = situation.deadLetters.filter { $0.count > 0 }.sorted {
            ($1.pattern?.first ?? situation.now, $1.count) < ($0.pattern?.first ?? situation.now, $0.count)
        }
        return causes.enumerated().map { number, cause in
            let why = cause.pattern?.words().map { "; " + $0 } ?? ""
            let doubt = cause.mayHaveArrived
            let doubts = doubt > 0 ? "; \(grouped(Int64(doubt))) may have arrived: a call got no answer" : ""
            var finding = Finding(
                number == 0 ? "dead-letters" : "dead-letters \(number + 1)", .warn, "Some dead letters",
                "\(grouped(Int64(cause.count))) of the last hour \(cause.count == 1 ? "is" : "are") open" + why
                    + doubts,
                since: cause.pattern?.first, next: .deadLetters(cause.pattern, mayHaveArrived: doubt > 0))
            finding.isDated = true
            return finding
        }
    }

    /// Without its reader nothing is known of new dead letters; when brokers do not answer, that says it.
    private var unread: [Finding] {
        guard let problem = situation.lettersProblem, !situation.group.isOutOfReach else { return [] }
        return [
            Finding(
                "letters-unread", .warn, "The dead letters are not read", problem,
                next: .brokers)
        ]
    }

    // MARK: Words

    /// A number of a worker's, which may be any.
    func whole(_ number: Double) -> Int64 { Int64(max(0, Int(saturating: number))) }

    private func names(_ partitions: [TopicPartition]) -> String {
        let shown = partitions.prefix(Self.namesShown).map { "\($0)" }.joined(separator: ", ")
        return partitions.count > Self.namesShown
            ? "\(shown) and \(partitions.count - Self.namesShown) more partitions" : shown
    }
}

extension WorkerObservation {
    fileprivate func has(_ reason: String) -> Bool {
        page.map { page in (page.reasons + (page.warnings ?? [])).contains { $0.reason == reason } } ?? false
    }
}
