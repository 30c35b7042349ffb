import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldText
import HeraldTime
import HeraldTools

extension Verdict {
    init(_ situation: Situation) {
        let rules = VerdictRules(situation)
        var findings = rules.findings
        // What is not known is not well.
        if !findings.contains(where: {
            [.bad, .warn].contains($0.finding.severity) || $0.key == FindingKey.notKnown.rawValue
        }) {
            findings.insert(rules.quiet, at: 0)
        }
        // In the order of the rules within a severity.
        let sorted = [Finding.Severity.bad, .warn, .good, .unknown].flatMap { severity in
            findings.filter { $0.finding.severity == severity }
        }
        let told = Self.folded(sorted)
        self.init(
            first: told[0], others: Array(told.dropFirst()), retrying: situation.group.observation?.retrying)
    }
}

/// What workers find, merged, and what only those see that look at Kafka and at all workers; in the order in which it
/// matters.
struct VerdictRules {
    /// A partition in which something is due, and nothing becomes done for so long, is stuck: a user whose call hangs blocks it
    /// for a quarter of that.
    static let stuckAfter: Milliseconds = .minutes(1)
    static let oldestSeconds = 3_600.0
    static let leastLag = 100.0
    static let lagSeconds = 10.0
    /// A failure is no news any more after so long, when nothing waits for a retry.
    static let newsAge: Milliseconds = .seconds(10)
    static let namesShown = 5

    let situation: Situation
    /// What the workers that answer say of themselves.
    let statuses: [WorkerStatus]

    init(_ situation: Situation) {
        self.situation = situation
        statuses = situation.workers.compactMap(\.status)
    }

    /// Whether any delivers; in an outage that only the next event can end none is known to.
    private var isAnyReady: Bool { statuses.contains { $0.isReady && !$0.warnings.contains(where: \.isOutage) } }
    var observation: GroupObservation? {
        if case .known(let observation) = situation.group { observation } else { nil }
    }
    var waiting: Int64? { situation.group.observation?.waiting }
    private var isGroupEmpty: Bool { observation?.members.isEmpty == true }
    /// Whether nothing takes events at all, for a reason that is found elsewhere.
    private var isStandingStill: Bool { isInOutage || (isGroupEmpty && !isAnyReady) }
    var isInOutage: Bool { statuses.contains { ($0.reasons + $0.warnings).contains(where: \.isOutage) } }

    /// Whether it is known why nothing becomes done: then partitions are not stuck by themselves, nor just afterwards.
    var isStandstillExplained: Bool {
        situation.group.isOutOfReach || isStandingStill || (!statuses.isEmpty && !isAnyReady)
    }

    /// A cause stands before its consequence.
    var findings: [ToldFinding] {
        let brokers = brokers
        let told = told(besides: brokers)
        // A worker that says the same knows more of it.
        let seen = (partitions + strangers + transactions).filter { one in !told.contains { $0.key == one.key } }
        // What publishers did is over, and its events are delivered.
        let isPast: (ToldFinding) -> Bool = { $0.key == FindingKey.publisherFaults.rawValue }
        let causes =
            brokers + absence + losses + told.filter { !isPast($0) } + calls + retries + silence + departures + seen
        return consequences(causes) + unanswered + campaigns + age + deadLetters + drift + unread + told.filter(isPast)
            + ignorance + secrecy
    }

    /// When nothing is wrong.
    var quiet: ToldFinding {
        guard isAnyReady else {
            return ToldFinding(
                Finding(
                    key: "unknown", .unknown, title: "Looking", "the workers and the brokers have not answered yet"))
        }
        let rate = situation.notificationsPerSecond
        let what =
            rate >= 0.5
            ? "\(counted(whole(rate), "notification", "notifications")) a second"
            : waiting.map { waiting in
                let (waits, wait) = ("event waits", "events wait")
                guard waiting == 0 else { return counted(waiting, waits, wait) }
                let retrying = observation?.retrying ?? 0
                return retrying == 0
                    ? "nothing waits" : counted(retrying, "\(waits) for a retry", "\(wait) for a retry")
            } ?? ""
        return ToldFinding(Finding(key: "delivering", .good, title: "Delivering", what + held), waiting: waiting)
    }

    /// Without a worker's answer it is unknown whether anything is delivered.
    ///
    /// Neither an empty backlog in Kafka nor brokers that answer show it: what cannot be written does not wait there.
    private var ignorance: [ToldFinding] {
        guard situation.workers.isEmpty, let observation, !observation.members.isEmpty else { return [] }
        let what =
            observation.waiting == 0 ? "nothing waits" : counted(observation.waiting, "event waits", "events wait")
        return [
            ToldFinding(
                .notKnown,
                "none of their admin ports is known here; as far as Kafka shows, the group has \(observation.memberWords), "
                    + "and \(what)", waiting: waiting)
        ]
    }

    // MARK: Workers

    /// What workers find, each kind once, however many find it.
    private func told(besides brokers: [ToldFinding]) -> [ToldFinding] {
        var found: [Finding] = []
        // What keeps a worker from delivering stands before what others warn of.
        for finding in statuses.flatMap(\.reasons) + statuses.flatMap(\.warnings)
        where !found.contains(where: { $0.key == finding.key }) {
            found.append(finding)
        }
        return found.filter { finding in
            switch FindingKey(rawValue: finding.key) {
            case .brokersUnreachable: !situation.group.isOutOfReach
            case .tooFewBrokers: !brokers.contains { $0.key == finding.key }
            // Kafka shows all partitions and topics, a worker only its own.
            case .recordsLost: losses.isEmpty
            case .topicsDrift: drift.isEmpty
            // What the last few calls of one worker were is chance while a share of all fails.
            case .backendUnreachable: !isFailingInPart
            // The calls of all workers tell more of it.
            case .lagGrowing, .pushServiceFailing, .credentials: false
            default: true
            }
        }.map(tell)
    }

    private func tell(_ finding: Finding) -> ToldFinding {
        func has(_ finding: Finding) -> (Finding) -> Bool { { $0.key == finding.key } }
        let kept = situation.workers.filter { $0.status?.reasons.contains(where: has(finding)) == true }
        let idle = finding.isOutage ? statuses.count { $0.warnings.contains(where: has(finding)) } : 0
        var told = ToldFinding(finding, waiting: waiting)
        if !kept.isEmpty, kept.count + idle < statuses.count {
            // Where none delivers, it is no better because others are kept from it by something else.
            if isAnyReady { told.finding.severity = .warn }
            let count = isAnyReady ? "\(kept.count) of \(statuses.count) workers (\(names(kept)))" : names(kept)
            told.finding.what = "\(count): \(finding.what)"
        }
        let since = statuses.flatMap { $0.reasons + $0.warnings }.filter(has(finding)).compactMap(\.since).min()
        told.finding.since = since.flatMap { $0 <= situation.now ? $0 : nil }
        return told
    }

    private func names(
        _ workers: [WorkerObservation], _ name: (WorkerObservation) -> String = \.address
    ) -> String {
        workers.prefix(Self.namesShown).map(name).joined(separator: ", ")
            + (workers.count > Self.namesShown ? " …" : "")
    }

    /// Which they are, each with its own reason unless all have the same.
    private func silences(_ workers: [WorkerObservation]) -> String {
        let reasons = Set(workers.compactMap(\.silence?.reason))
        guard reasons.count > 1 else { return "\(names(workers)) (\(reasons.first ?? ""))" }
        return names(workers) { "\($0.address) (\($0.silence?.reason ?? ""))" }
    }

    private var silence: [ToldFinding] {
        // Without members it is clear why.
        guard !isGroupEmpty, !situation.group.isOutOfReach || !statuses.isEmpty else { return [] }
        let silent = situation.workers.filter { $0.silence != nil }
        return [false, true].compactMap { isOlder in
            let concerned = silent.filter { $0.silence?.isOlder == isOlder }
            guard !concerned.isEmpty else { return nil }
            let count =
                statuses.isEmpty && !isOlder
                ? "no worker answers"
                : "\(concerned.count) of \(situation.workers.count) workers \(concerned.count == 1 ? "does" : "do") not "
                    + (isOlder ? "say how they are" : "answer")
            var told = ToldFinding(
                isOlder ? .olderWorker : .silentWorker, "\(count) at \(silences(concerned))",
                place: concerned.map(\.address), waiting: waiting)
            if !isOlder, let since = allSilentSince {
                told.finding.title = concerned.count == 1 ? "The worker is silent" : "All workers are silent"
                (told.finding.severity, told.finding.since) = (.bad, since)
            }
            return told
        }
    }

    /// Since when none of the workers that have answered before does, once that is no hiccup; one that has never answered may
    /// deliver, and not be reached from here.
    private var allSilentSince: WallTime? {
        let moments = situation.workers.compactMap { situation.silentSince[$0.address] }
        guard let last = moments.max(), moments.count == situation.workers.count,
            situation.now.time(since: last) >= DepartedWorkers.silence
        else { return nil }
        return last
    }

    /// Workers that vanished: what they had is with the others, which may be too few.
    private var departures: [ToldFinding] {
        let gone = situation.departures
        guard let last = gone.last, !isGroupEmpty else { return [] }
        let names = gone.prefix(Self.namesShown).map(\.address).joined(separator: ", ")
        return [
            ToldFinding(
                .silentWorker, title: gone.count == 1 ? "A worker is gone" : "\(gone.count) workers are gone",
                "\(names) did not answer any more at \(last.at.clock(now: situation.now)) and left the group without a "
                    + "farewell; the others have \(gone.count == 1 ? "its" : "their") partitions", about: "gone",
                since: gone.map(\.at).min(),
                step: "see why it ended, and start one in its place; this is told for ten minutes")
        ]
    }

    private var age: [ToldFinding] {
        let seconds = statuses.map(\.oldestSeconds).max() ?? 0
        guard !isStandingStill, seconds >= Self.oldestSeconds, seconds < 1e9 else { return [] }
        let since = situation.now.advanced(by: .milliseconds(-whole(seconds * 1_000)))
        return [
            ToldFinding(
                .oldest, "the oldest has waited since \(since.clock(now: situation.now))", waiting: waiting)
        ]
    }

    // MARK: Kafka

    private var brokers: [ToldFinding] {
        // Workers know which partitions it is about.
        if !statuses.isEmpty,
            statuses.allSatisfy({ $0.reasons.contains { $0.key == FindingKey.tooFewBrokers.rawValue } })
        {
            return []
        }
        switch situation.group {
        case .unreachable(let reason, _):
            // A worker that says the same says nothing new.
            return [
                isAnyReady
                    ? ToldFinding(.consoleBrokers, reason, waiting: waiting)
                    : ToldFinding(.brokersUnreachable, reason, waiting: waiting)
            ]
        case .tooFewBrokers(let reason, _):
            guard isAnyReady else { return [ToldFinding(.tooFewBrokers, reason, waiting: waiting)] }
            // Leaders and a coordinator move: whether the rest is too few, workers know in some seconds.
            var told = ToldFinding(
                .tooFewBrokers, title: "Brokers are silent", reason + "; workers say that they deliver",
                about: "silent",
                waiting: waiting)
            told.finding.severity = .warn
            return [told]
        case .unasked, .known, .untold: return []
        }
    }

    private var absence: [ToldFinding] {
        guard let observation, isGroupEmpty, statuses.isEmpty else { return [] }
        let (waiting, retrying) = (observation.waiting, observation.retrying)
        let what =
            waiting > 0
            ? counted(waiting, "event waits", "events wait")
            : retrying > 0 ? counted(retrying, "retry waits", "retries wait") : "nothing waits"
        let oldest = observation.oldest(ofRetries: waiting == 0)
            .map { ", the oldest since \($0.clock(now: situation.now))" }
        var told = ToldFinding(
            .noWorker, what + (oldest ?? ""), waiting: waiting,
            step: FindingKey.noWorker.entry.step
                + ". Workers of another group (kafka.group), such as a sandbox's, are not seen here")
        if waiting + retrying == 0 { told.finding.severity = .warn }
        return [told]
    }

    /// What was deleted before it was read; of what a worker consumes it may have read some, which it alone knows.
    private var losses: [ToldFinding] {
        guard var lost = observation?.lostRecords, lost.count > 0 else { return [] }
        let own = statuses.flatMap { $0.reasons + $0.warnings }.filter { $0.key == FindingKey.recordsLost.rawValue }
        if !statuses.isEmpty, statuses.count == situation.workers.count {
            // What none has come to yet may be in memory.
            guard !own.isEmpty else { return [] }
            lost = lost.told(by: own)
        } else {
            lost.isBound = !isGroupEmpty
        }
        guard var finding = lost.finding else { return [] }
        finding.since = own.compactMap(\.since).min()
        return [ToldFinding(finding, waiting: waiting)]
    }

    private var drift: [ToldFinding] { observation?.drift.map { [ToldFinding($0)] } ?? [] }

    private var partitions: [ToldFinding] {
        guard let observation, !isStandingStill else { return [] }
        var findings = [stuck(observation)].compactMap { $0 }
        let leaderless = observation.leaderless
        if !leaderless.isEmpty {
            findings.insert(
                ToldFinding(
                    .partitionsWithoutLeader,
                    "\(leaderless.names) \(leaderless.count == 1 ? "has" : "have") no leader", waiting: waiting), at: 0)
        }
        guard observation.isStable else {
            guard !isGroupEmpty else { return findings }
            let name = SafeText.escaped(observation.name)
            return findings + [
                ToldFinding(
                    .rebalance, "the group \(name) moves its partitions (\(SafeText.escaped(observation.state)))",
                    waiting: waiting)
            ]
        }
        let orphans = observation.partitions.filter { !$0.hasMember && $0.lag > 0 }
        guard !orphans.isEmpty else { return findings }
        let behind = orphans.reduce(0) { $0 + $1.lag }
        return findings + [
            ToldFinding(
                .noMember,
                "no worker has \(orphans.map(\.place).names): "
                    + counted(behind, "event waits there", "events wait there"), waiting: behind)
        ]
    }

    private func stuck(_ observation: GroupObservation) -> ToldFinding? {
        let stuck = observation.partitions.compactMap { partition -> (GroupObservation.Partition, since: WallTime)? in
            guard let still = partition.stillSince, partition.lost == 0 || losses.isEmpty else { return nil }
            // What an outage held back has not stood still by itself.
            let since = situation.standstillEnd.map { max(still, $0) } ?? still
            return situation.now.time(since: since) >= Self.stuckAfter ? (partition, since) : nil
        }.sorted { $0.0.due > $1.0.due }
        guard let worst = stuck.first?.0 else { return nil }
        let behind = stuck.reduce(0) { $0 + $1.0.due }
        let one = stuck.count == 1
        return ToldFinding(
            .partitionStuck,
            title: one ? "Partition \(worst.place.partition) is stuck" : "\(stuck.count) partitions are stuck",
            "\(grouped(behind)) behind in \(one ? worst.place.topic : stuck.map(\.0.place).names)",
            since: stuck.map(\.since).min(), waiting: behind)
    }

    private var strangers: [ToldFinding] {
        guard let observation, let words = observation.strangers.words(in: observation.name) else { return [] }
        return [
            ToldFinding(.strangerInGroup, SafeText.escaped(words), step: [GroupDescription.Stranger].remedy)
        ]
    }

    private var transactions: [ToldFinding] {
        guard let observation, let first = observation.openTransactions.first else { return [] }
        return [
            ToldFinding(
                .behindOpenTransaction, "partition " + SafeText.escaped(first.words), since: first.since,
                waiting: observation.partitions.reduce(0) { $0 + $1.held }, step: first.remedy)
        ]
    }

    private var secrecy: [ToldFinding] {
        guard case .untold(let reason, _) = situation.group else { return [] }
        return [ToldFinding(.groupUntold, reason, waiting: waiting)]
    }

    // MARK: Lag

    /// Findings that are no worse than a warning, and that a growing lag is the consequence of.
    private static let causesOfLag: [FindingKey?] = [
        .tooFewBrokers, .callsFail, .throttled, .credentials, .behindOpenTransaction, .brokersThrottle,
    ]
    /// Those that have room for it in their own words.
    private static let tellsLag: [FindingKey?] = [.callsFail, .throttled, .credentials, .pushServiceFailing]

    private func isCauseOfLag(_ told: ToldFinding) -> Bool {
        told.finding.severity == .bad || Self.causesOfLag.contains(FindingKey(rawValue: told.finding.key))
            || statuses.contains { $0.reasons.contains { $0.key == told.key && $0.severity == .bad } }
    }

    /// The lag that grows, as the consequence of what makes it grow; a finding of its own when nothing else is wrong.
    private func consequences(_ causes: [ToldFinding]) -> [ToldFinding] {
        guard let growth = lagGrowth else { return causes }
        var causes = causes
        if let first = causes.firstIndex(where: { Self.tellsLag.contains(FindingKey(rawValue: $0.finding.key)) }) {
            causes[first].finding.what += "; its consequence: \(growth.what)"
        }
        return causes.contains(where: isCauseOfLag) ? causes : causes + [tell(growth)]
    }

    /// What a worker warns of, by the console's own figure when it has one: a worker knows only its own partitions.
    ///
    /// A lag that grew over the last minute and is gone, or is a few seconds of work, is no news.
    private var lagGrowth: Finding? {
        let all = statuses.flatMap { $0.reasons + $0.warnings }
        guard var finding = all.first(where: { $0.key == FindingKey.lagGrowing.rawValue }) else { return nil }
        if let waiting,
            Double(waiting) < max(Self.leastLag, Self.lagSeconds * situation.notificationsPerSecond)
        {
            return nil
        }
        guard let growth = situation.lagGrowth else { return finding }
        guard growth >= 0.5 else { return nil }
        finding.what = "the lag grows by \(counted(whole(growth.rounded()), "event", "events")) each second"
        return finding
    }

    // MARK: Campaigns and dead letters

    /// What a campaign's own events say is about that campaign.
    private var campaigns: [ToldFinding] {
        situation.campaigns.compactMap { trouble in
            switch trouble.kind {
            case .held, .waits: nil
            case .paused:
                campaign(
                    .campaignPaused, trouble.name, title: "Campaign \(trouble.name) is paused", trouble.cause,
                    since: trouble.since)
            case .fails:
                campaign(
                    .campaignFails, trouble.name, title: "Campaign \(trouble.name) fails in part", trouble.cause,
                    since: nil)
            case .stopped:
                // Without brokers its publisher is not heard of here, and is there all the same.
                situation.group.isOutOfReach ? nil : stopped(trouble)
            case .expired: stopped(trouble)
            }
        }
    }

    private func stopped(_ trouble: CampaignTrouble) -> ToldFinding {
        let isExpired = trouble.kind == .expired
        var told = ToldFinding(
            .campaignStopped, title: "Campaign \(trouble.name) \(isExpired ? "has expired" : "is stopped")",
            trouble.cause,
            about: trouble.name, since: trouble.since,
            step: isExpired ? "if they are still to be notified, begin another campaign with those of its report" : nil)
        told.finding.command = ["herald", "campaign", "status", trouble.name]
        told.href = "/campaigns/\(trouble.name)"
        return told
    }

    /// What an operator has paused or is waited for with, who knows of it, and may forget.
    private var held: String {
        let sorts: [(kind: CampaignTrouble.Kind, one: String, more: String)] = [
            (.held, "is paused", "are paused"), (.waits, "waits for you", "wait for you"),
        ]
        return sorts.map { kind, one, more in
            let names = situation.campaigns.filter { $0.kind == kind }.map(\.name)
            guard let first = names.first else { return "" }
            return "; campaign \(first) \(names.count > 1 ? "and \(names.count - 1) more \(more)" : one)"
        }.joined()
    }

    func campaign(
        _ key: FindingKey, _ name: String, title: String, _ what: String, since: WallTime?
    ) -> ToldFinding {
        let isPaused = situation.campaigns.contains { $0.name == name && [.paused, .held].contains($0.kind) }
        let isRunning = key == .campaignFails || situation.runningCampaigns.contains(name)
        var told = ToldFinding(
            key, title: title, what, about: name, since: since,
            step: isPaused
                ? "see why, then resume or cancel it: a resume goes on, and counts anew"
                : isRunning ? "see why; a pause stops it meanwhile" : "see why; when the cause is gone, replay them")
        told.href = "/campaigns/\(name)"
        told.finding.command = [
            "herald", "dlq", "list", "--where", "campaign = '\(name)'", "--group-by", "status",
        ]
        return told
    }

    /// One finding for each cause, the one that began last first: the others are known already.
    private var deadLetters: [ToldFinding] {
        let causes = situation.deadLetters.filter { $0.count > 0 }.sorted {
            ($1.pattern?.first ?? situation.now, $1.count) < ($0.pattern?.first ?? situation.now, $0.count)
        }
        return causes.enumerated().map { number, cause in
            let doubt = cause.mayHaveArrived
            let doubts = doubt > 0 ? "; \(grouped(Int64(doubt))) may have arrived: a call got no answer" : ""
            var told = ToldFinding(
                .deadLetters,
                "\(grouped(Int64(cause.count))) of the last hour \(cause.count == 1 ? "is" : "are") open" + doubts,
                about: number == 0 ? nil : "\(number + 1)", since: cause.pattern?.first)
            told.isDated = true
            told.traits = cause.pattern?.phrases() ?? []
            if let pattern = cause.pattern, let field = pattern.groupField {
                told.finding.step = "see them by \(field), with what to do about each"
                told.finding.command += ["--group-by", field]
                told.href = "/failures?since=1h&by=\(field)"
                told.plan = .present([.init("since", "1h"), .init("where", .text(pattern.condition))])
            }
            if doubt > 0 {
                // Whoever replays them has to know that first.
                let entry = FindingKey.unanswered.entry
                (told.finding.step, told.finding.section) = (entry.step, entry.section)
            }
            return told
        }
    }

    /// Without its reader nothing is known of new dead letters; when brokers do not answer, that says it.
    private var unread: [ToldFinding] {
        guard let problem = situation.lettersProblem, !situation.group.isOutOfReach else { return [] }
        var told = ToldFinding(.lettersUnread, problem)
        // What the problem is says what to do.
        let missing = FindingKey.topicsMissing.entry
        if problem.contains("herald topics apply") {
            (told.finding.step, told.finding.command) = (missing.step, missing.command)
            told.finding.section = missing.section
        }
        return [told]
    }

    /// A number of a worker's, which may be any.
    func whole(_ number: Double) -> Int64 { Int64(max(0, Int(saturating: number))) }
}
