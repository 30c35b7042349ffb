import HeraldTime
import HeraldTimeline
import HeraldTools

/// Makes verdicts and history of what the watches see: pure.
struct NowModel: Sendable {
    struct Snapshot: Sendable {
        var now: WallTime
        var workers: [WorkerObservation] = []
        var group = GroupKnowledge.unasked
        /// The open dead letters of the last hour; `nil` when that is not known.
        var letters: OpenLetters?
        /// What keeps the console from reading them.
        var lettersProblem: String?
        var evidence = Evidence()
        var campaigns: [CampaignTrouble] = []
        /// Those that can be paused.
        var runningCampaigns: Set<String> = []
    }

    private var meter = RateMeter()
    private var clock = FindingClock()
    private var departed = DepartedWorkers()
    private var standstillEnd: WallTime?
    /// What the open dead letters were said to have in common, which stays as long as they do, whatever is delivered.
    private var known: (letters: TraitTally, causes: [DeadLetterCause])?
    private(set) var history = NowHistory()
    private(set) var snapshot: Snapshot?
    private(set) var log = VerdictLog()
    private(set) var verdict: Verdict?
    /// The push services of which every call fails now.
    private(set) var deadServices: [String] = []

    mutating func look(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        let point = point(snapshot)
        history.add(point)
        var situation = Situation(
            now: snapshot.now, workers: snapshot.workers, group: snapshot.group,
            calls: history.newestCalls(now: snapshot.now),
            notificationsPerSecond: point.outcomes.values.reduce(0, +))
        (situation.campaigns, situation.runningCampaigns) = (snapshot.campaigns, snapshot.runningCampaigns)
        // What is not known of the group says nothing of its members.
        if case .known = snapshot.group { departed.look(snapshot.workers, now: snapshot.now) }
        (situation.departures, situation.silentSince) = (departed.departures, departed.silentSince)
        situation.lettersProblem = snapshot.lettersProblem
        situation.lagGrowth = history.lagGrowth(now: snapshot.now)
        if !snapshot.workers.contains(where: { $0.status != nil }) {
            // Retries of workers that have fallen silent since say how these ended, not how push services are.
            let end = history.lastAnswer.map { $0.advanced(by: Milliseconds(NowHistory.step)) }
            situation.retryTroubles = snapshot.evidence.retryTroubles(now: snapshot.now).filter { trouble in
                end.map { $0 < trouble.last } ?? true
            }
        }
        deadServices = situation.calls.filter { $0.value.isDead }.map(\.key).sorted()
        if let letters = snapshot.letters, letters.whole.total > 0 {
            situation.deadLetters = causes(of: letters, snapshot)
        }
        for service in deadServices {
            // It has delivered nothing, so what others deliver is no comparison.
            let (evidence, now) = (snapshot.evidence, snapshot.now)
            var pattern = FailurePattern(failed: evidence.undelivered(service, now: now), delivered: TraitTally())
            pattern?.follow(
                newest: FailurePattern(
                    failed: evidence.undelivered(service, within: Evidence.newestSpan, now: now),
                    delivered: TraitTally()))
            // What another one failed at before is not the beginning of this campaign's trouble.
            if let campaign = pattern?.soleCampaign {
                pattern?.first = evidence.undelivered(service, of: campaign, now: now).first
            }
            situation.deadPatterns[service] = pattern
        }
        if VerdictRules(situation).isStandstillExplained { standstillEnd = snapshot.now }
        situation.standstillEnd = standstillEnd
        let dated = clock.date(Verdict(situation), now: snapshot.now)
        verdict = dated
        log.note(dated, now: snapshot.now)
    }

    private mutating func causes(of letters: OpenLetters, _ snapshot: Snapshot) -> [DeadLetterCause] {
        if let known, known.letters == letters.whole { return known.causes }
        let delivered = snapshot.evidence.delivered(now: snapshot.now)
        let causes = letters.causes.map { tally in
            DeadLetterCause(
                count: tally.total, mayHaveArrived: tally.mayHaveArrived,
                pattern: FailurePattern(failed: tally, delivered: delivered))
        }
        known = FailurePattern.isComparable(delivered) ? (letters.whole, causes) : nil
        return causes
    }

    /// Those of the workers that there is something to say of: of one that is no known member only that its group does not let
    /// it in, for one that delivers is another group's.
    static func known(_ workers: [WorkerObservation], _ plan: NowPlan, _ group: GroupKnowledge) -> [WorkerObservation] {
        ofMembers(plan, group).isEmpty ? workers.filter { $0.status?.isReady == false } : workers
    }

    private static func ofMembers(_ plan: NowPlan, _ group: GroupKnowledge) -> [String] {
        let (members, workers) = (group.observation?.members ?? [], plan.search.group)
        return WorkerSurvey.addresses(of: members, named: workers.named, listen: workers.listen)
    }

    static func addresses(_ plan: NowPlan, _ group: GroupKnowledge) -> [String] {
        let known = ofMembers(plan, group)
        // One that its group does not let in is no member.
        return known.isEmpty ? WorkerSurvey.localAddress(listen: plan.search.group.listen).map { [$0] } ?? [] : known
    }

    private mutating func point(_ snapshot: Snapshot) -> NowPoint {
        let statuses = snapshot.workers.compactMap(\.status)
        let rates = meter.add(
            Dictionary(
                snapshot.workers.compactMap { worker in worker.status.map { (worker.address, (worker.at, $0)) } }
            ) { $1 })
        func sum(_ value: (WorkerStatus) -> Double) -> Double? {
            statuses.isEmpty ? nil : statuses.reduce(0) { $0 + value($1) }
        }
        var point = NowPoint(at: snapshot.now, outcomes: rates.notifications, calls: rates.calls)
        point.inFlight = sum(\.inFlight)
        point.inFlightLimit = sum(\.inFlightLimit)
        point.oldestSeconds = oldest(snapshot)
        point.halfSeconds = LatencyQuantile.seconds(0.5, of: rates.endToEnd)
        point.mostSeconds = LatencyQuantile.seconds(0.99, of: rates.endToEnd)
        if case .known(let observation) = snapshot.group {
            point.waiting = observation.waiting
            point.retrying = observation.retrying
        }
        point.workers = snapshot.workers.count { $0.status != nil }
        point.ready = snapshot.workers.count(where: \.isReady)
        point.outages = Set(statuses.flatMap(\.outages)).sorted()
        return point
    }

    /// What workers know; without any, what Kafka shows.
    private func oldest(_ snapshot: Snapshot) -> Double? {
        if let seconds = snapshot.workers.compactMap({ $0.status?.oldestSeconds }).max() { return seconds }
        guard case .known(let observation) = snapshot.group, let oldest = observation.oldest else { return nil }
        return max(.zero, snapshot.now.time(since: oldest)).inSeconds
    }
}

/// How long so large a part took at most, from the counts of a histogram: pure.
enum LatencyQuantile {
    /// The seconds within which this share ended for certain: the bound of its bucket.
    ///
    /// What lies within a bucket is not known, and the wide ones span minutes. The largest bound for what took longer, and `nil` when nothing ended.
    ///
    /// - Parameter counts: how many ended within each bound, by the bound in seconds; the largest bound counts all.
    static func seconds(_ share: Double, of counts: [Double: Double]) -> Double? {
        let buckets = counts.sorted { $0.key < $1.key }
        guard let all = buckets.last?.value, all > 0 else { return nil }
        let wanted = share * all
        // Workers may be asked between two of their counts: a later bound has fewer then.
        let bounds = buckets.map(\.key).filter(\.isFinite)
        return buckets.first { $0.value >= wanted && $0.key.isFinite }?.key ?? bounds.last ?? 0
    }
}
