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
    static let stuckMilliseconds: Int64 = 60_000
    static let oldestSeconds = 3_600.0
    static let leastLag = 100.0
    static let lagSeconds = 10.0
    /// A failure is no news any more after so long, when nothing waits for a retry.
    static let newsMilliseconds: Int64 = 10_000
    static let failingShare = 0.2
    static let throttledShare = 0.05
    static let refusedShare = 0.01
    static let unansweredShare = 0.05
    /// So many names are listed at most.
    static let namesShown = 5

    let situation: Situation

    init(_ situation: Situation) {
        self.situation = situation
    }

    private var workers: [WorkerObservation] { situation.workers }
    private var answering: [WorkerObservation] { workers.filter { $0.page != nil } }
    private var silent: [WorkerObservation] { workers.filter { if case .silent = $0.state { true } else { false } } }
    private var isAnyReady: Bool { workers.contains(where: \.isReady) }
    private var observation: GroupObservation? {
        if case .known(let observation) = situation.group { observation } else { nil }
    }
    private var waiting: Int64? { situation.group.observation?.waiting }
    private var isGroupEmpty: Bool { observation?.members.isEmpty == true }
    /// Whether nothing takes events at all, for a reason that is found elsewhere.
    private var isStandingStill: Bool { isHolding || (isGroupEmpty && !isAnyReady) }
    private var isHolding: Bool {
        answering.contains { $0.page?.reasons.contains { $0.reason.hasPrefix("outage-") } == true }
    }

    var findings: [Finding] {
        brokers + absence + answers + silence + partitions + calls + unanswered + campaigns + age + deadLetters
            + ignorance
            + secrecy
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

    /// Without a worker's word nobody knows whether anything is delivered.
    ///
    /// That nothing waits in Kafka says it as little as that brokers answer: what cannot be written does not wait there.
    private var ignorance: [Finding] {
        guard workers.isEmpty, let observation, !observation.members.isEmpty else { return [] }
        let members = counted(Int64(observation.members.count), "member", "members")
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
        guard case .unreachable(let reason, _) = situation.group else { return [] }
        guard !isAnyReady else {
            return [
                Finding(
                    "console-brokers", .warn, "The workers deliver, and the console reaches no broker", reason,
                    next: .brokers)
            ]
        }
        // Workers know which partitions it is about.
        guard answering.isEmpty || !answering.allSatisfy({ $0.has("too-few-brokers") }) else { return [] }
        // A worker that says the same says nothing new.
        return [Finding("brokers-unreachable", .bad, "Brokers unreachable", reason, waiting: waiting, next: .brokers)]
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
        let stuck = observation.partitions.filter {
            $0.stillSince.map { situation.now.milliseconds(since: $0) >= Self.stuckMilliseconds } ?? false
        }
        if let finding = finding(stuck: stuck) { findings.append(finding) }
        guard observation.state.lowercased() == "stable" else {
            if !observation.members.isEmpty {
                findings.append(
                    Finding(
                        "rebalance", .warn, "Degraded", "the group \"\(observation.state)\" moves its partitions",
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
            where !reasons.contains(where: { $0.reason == reason.reason }) && isNews(reason) {
                reasons.append(reason)
            }
        }
        let isUnreachable = if case .unreachable = situation.group { true } else { false }
        let found = reasons.filter { !(isUnreachable && $0.reason == "brokers-unreachable") }.map(finding)
        // Not ready, and no reason that is known here.
        let speechless = answering.filter { !$0.isReady && $0.page?.reasons.isEmpty == true }
        guard found.isEmpty, !speechless.isEmpty else { return found }
        return [
            Finding(
                "not-ready", .bad, "Not delivering", "a worker says so, without a reason", next: .against(reason: ""))
        ]
    }

    /// A lag that grew over the last minute and is gone, or is a few seconds of work, is no news.
    private func isNews(_ reason: WorkerSurvey.Page.Reason) -> Bool {
        // The calls themselves tell more: ``calls``.
        if reason.reason == "push-service-failing" { return false }
        guard reason.reason == "lag-growing", let waiting else { return true }
        return Double(waiting) >= max(Self.leastLag, Self.lagSeconds * situation.notificationsPerSecond)
    }

    private func finding(_ reason: WorkerSurvey.Page.Reason) -> Finding {
        let concerned = answering.filter { $0.has(reason.reason) }
        let isWarning = concerned.allSatisfy(\.isReady)
        let isAll = concerned.count == answering.count
        let parts = SentenceParts(reason.sentence)
        var next = NextStep.against(reason: reason.reason)
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
        switch reason {
        case "starting": ("Starting", .warn)
        case "stopping": ("Stopping", .warn)
        case "unassigned": ("Waiting for partitions", .warn)
        case "partitions-without-leader": ("Degraded", .bad)
        case "brokers-unreachable": ("Brokers unreachable", .bad)
        case "too-few-brokers": ("Too few brokers", .bad)
        case "no-progress": ("No progress", .bad)
        case "lag-growing": ("Behind", .warn)
        case "publisher-faults": ("Events are published wrongly", .warn)
        case let outage where outage.hasPrefix("outage-"): ("Outage", .bad)
        default: ("Not delivering", .bad)
        }
    }

    private var silence: [Finding] {
        guard !silent.isEmpty, case .silent(let reason)? = silent.first?.state else { return [] }
        // Then it is clear why.
        guard !isGroupEmpty else { return [] }
        if case .unreachable = situation.group, answering.isEmpty { return [] }
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

    private var calls: [Finding] {
        guard !isHolding else { return [] }
        var findings: [Finding] = []
        for (service, calls) in situation.calls.sorted(by: { $0.key < $1.key }) {
            if calls.isDead, !isOver(calls, ServiceCalls.isFailing) {
                findings.append(dead(service, calls))
                continue
            }
            guard calls.total >= ServiceCalls.leastCount else { continue }
            func find(
                _ key: String, above limit: Double, _ what: (now: String, past: String), _ next: NextStep,
                _ isMeant: (String) -> Bool
            ) {
                let share = calls.share(isMeant)
                guard share > limit, !isOver(calls, isMeant) else { return }
                findings.append(
                    Finding(
                        "\(key) \(service)", .warn, "Degraded",
                        "\(percent(share)) of \(service)'s calls \(tense(calls, what, isMeant))", next: next))
            }
            find("calls-fail", above: Self.failingShare, Self.failing, .callsFail, ServiceCalls.isFailing)
            let rate = rate(service)
            find(
                "throttled", above: Self.throttledShare,
                ("are answered with 429" + rate, "were answered with 429" + rate),
                .throttled
            ) { $0 == "throttled" }
            find(
                "credentials", above: Self.refusedShare,
                ("are refused with 401 or 403", "were refused with 401 or 403"), .credentials
            ) { $0 == "credentials" }
        }
        return findings
    }

    private static let failing = (now: "fail for now", past: "failed")

    /// Whether the calls that ended so are over: the last is old, and nothing waits that could end so again.
    private func isOver(_ calls: ServiceCalls, _ isMeant: (String) -> Bool) -> Bool {
        observation?.retrying == 0 && secondsSinceLast(calls, isMeant) != nil
    }

    /// What calls do, or what they did and when they did it last.
    private func tense(
        _ calls: ServiceCalls, _ what: (now: String, past: String), _ isMeant: (String) -> Bool
    ) -> String {
        secondsSinceLast(calls, isMeant).map { "\(what.past), the last \($0) s ago" } ?? what.now
    }

    /// `nil` while that is news.
    private func secondsSinceLast(_ calls: ServiceCalls, _ isMeant: (String) -> Bool) -> Int64? {
        let age = calls.last(isMeant).map { situation.now.milliseconds(since: $0) }
        return age.flatMap { $0 > Self.newsMilliseconds ? $0 / 1_000 : nil }
    }

    private func dead(_ service: String, _ calls: ServiceCalls) -> Finding {
        let pattern = situation.deadPatterns[service]
        let since = [calls.nothingSince, pattern?.first].compactMap { $0 }.min()
        let why = pattern?.words(without: .service).map { "; " + $0 } ?? ""
        // With few users nothing is known of others; with many the workers' breaker says that it is everybody's.
        if let campaign = pattern?.parts.first(where: { $0.field == .campaign && $0.percent == 100 })?.value {
            return Finding(
                "campaign-dead \(campaign) \(service)", .warn,
                "Campaign \(SafeText.escaped(campaign)): nothing of it is delivered by \(service)",
                "100 % of \(service)'s calls \(tense(calls, Self.failing, ServiceCalls.isFailing))" + why, since: since,
                next: .campaignFails(campaign))
        }
        return Finding(
            "service-dead \(service)", .bad, "Nothing is delivered by \(service)",
            "100 % of \(service)'s calls \(tense(calls, Self.failing, ServiceCalls.isFailing))" + why, since: since,
            waiting: nil, next: .callsFail)
    }

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

    /// The backend may have taken what it did not answer, in an outage too.
    ///
    /// A retry or a replay of that notifies twice, unless the backend recognises it.
    private var unanswered: [Finding] {
        situation.calls.sorted(by: { $0.key < $1.key }).compactMap { service, calls in
            let isUnanswered = { $0 == "timeout" || $0 == "reset" }
            let share = calls.share(isUnanswered)
            // What is over stands in its dead letters.
            guard calls.total >= ServiceCalls.leastCount, share > Self.unansweredShare,
                !isOver(calls, isUnanswered)
            else { return nil }
            return Finding(
                "unanswered \(service)", .warn, "Some may have arrived",
                "\(percent(share)) of \(service)'s calls time out or are cut off", next: .unanswered)
        }
    }

    private func rate(_ service: String) -> String {
        let limits = workers.compactMap { $0.numbers?.rateLimits[service] }
        guard !limits.isEmpty else { return "" }
        return "; the backend bears about \(grouped(whole(limits.reduce(0, +)))) a second"
    }

    private var age: [Finding] {
        guard !isStandingStill else { return [] }
        let seconds = workers.compactMap { $0.numbers?.oldestSeconds }.max() ?? 0
        guard seconds >= Self.oldestSeconds, seconds < 1e9 else { return [] }
        let since = situation.now.advanced(byMilliseconds: -whole(seconds * 1_000))
        return [
            Finding(
                "oldest", .warn, "An event is late", "the oldest has waited since \(since.clock(now: situation.now))",
                waiting: waiting, next: .oldest)
        ]
    }

    private var deadLetters: [Finding] {
        guard let count = situation.deadLetters, count > 0 else { return [] }
        let (pattern, doubt) = (situation.letterPattern, situation.deadLettersInDoubt)
        let why = pattern?.words().map { "; " + $0 } ?? ""
        let doubts = doubt > 0 ? "; \(grouped(Int64(doubt))) may have arrived: a call got no answer" : ""
        return [
            Finding(
                "dead-letters", .warn, "Some dead letters",
                "\(grouped(Int64(count))) of the last hour \(count == 1 ? "is" : "are") open" + why + doubts,
                since: pattern?.first, next: .deadLetters(pattern, mayHaveArrived: doubt > 0))
        ]
    }

    // MARK: Words

    /// A number of a worker's, which may be any.
    private func whole(_ number: Double) -> Int64 { Int64(max(0, Int(saturating: number))) }

    private func percent(_ share: Double) -> String { "\(Int(saturating: share * 100)) %" }

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
