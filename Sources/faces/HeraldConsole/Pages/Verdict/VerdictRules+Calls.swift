import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools

/// How push services' newest calls end: one finding for what is wrong, of all push services of which it is true.
extension VerdictRules {
    private static let failingShare = 0.2
    private static let throttledShare = 0.05
    private static let refusedShare = 0.01
    private static let unansweredShare = 0.05
    /// Results are read within so long: until then it is not known whose calls are rejected.
    private static let readingTime: Milliseconds = .seconds(6)

    private typealias Calls = (service: String, calls: ServiceCalls)

    private struct Trouble: Sendable {
        var key: FindingKey
        /// It is told above this share.
        var limit: Double
        /// What calls do.
        var words: String
        var isMeant: @Sendable (String) -> Bool
    }

    var calls: [ToldFinding] {
        guard !isInOutage else { return [] }
        let known = self.known.filter { !heldServices.contains($0.service) }
        let dead = known.filter { $0.calls.isDead && !isOver($0.calls, ServiceCalls.isUndelivered) }
        let alive = known.filter { one in
            one.calls.total >= NewestCalls.least && !dead.contains { $0.service == one.service }
        }
        return held + self.dead(dead.filter { !isUnread($0) })
            + [Self.failing, Self.throttled, Self.refused].compactMap { finding($0, alive) }
    }

    /// What workers say of push services that they hold alone: they know since when.
    private var holds: [Finding] {
        statuses.flatMap(\.warnings).filter { $0.key == FindingKey.pushServiceFailing.rawValue && $0.since != nil }
    }

    private var heldServices: Set<String> { Set(holds.flatMap(\.place)) }

    /// One finding for all that are held, as the first worker tells it.
    private var held: [ToldFinding] {
        guard var first = holds.min(by: { ($0.since ?? situation.now) < ($1.since ?? situation.now) }) else {
            return []
        }
        let services = heldServices.sorted()
        if services.count > 1 {
            (first.title, first.place) = (Self.deliverNothing(services), services)
            first.what = services.compactMap { name in holds.first { $0.place == [name] }?.what }.joined(
                separator: "; ")
        }
        return [ToldFinding(first, waiting: waiting)]
    }

    /// What Kafka shows of calls that fail, where no worker's word is known.
    var retries: [ToldFinding] {
        situation.retryTroubles.compactMap { trouble in
            let age = situation.now.time(since: trouble.last)
            guard age <= Self.newsAge || observation?.retrying != 0 else { return nil }
            let count = counted(Int64(trouble.pattern.total), "retry", "retries")
            var told = ToldFinding(
                trouble.isDead ? .pushServiceFailing : .callsFail,
                title: trouble.isDead ? Self.deliverNothing(trouble.services) : nil,
                "the last \(count) for \(Self.listed(trouble.services)); not known from workers",
                place: trouble.services, since: trouble.isDead ? trouble.pattern.first : nil, waiting: waiting)
            if trouble.pattern.soleCampaign != nil { told.finding.severity = .warn }
            told.traits = trouble.pattern.phrases(without: trouble.services.count == 1 ? .service : nil)
            told.isSinceBound = trouble.isDead && trouble.isSinceBound
            return told
        }
    }

    /// Whether calls fail for a large share, and others are delivered.
    var isFailingInPart: Bool {
        known.contains { _, calls in
            calls.total >= NewestCalls.least && !calls.isDead
                && calls.share(ServiceCalls.isFailing) > Self.failingShare
        }
    }

    /// The backend may have taken what it did not answer, in an outage too.
    ///
    /// A retry or a replay of that notifies twice, unless the backend recognises it. What is over stands in its dead letters.
    var unanswered: [ToldFinding] {
        let meant = known.filter { $0.calls.total >= NewestCalls.least }
        return finding(Self.unanswered, meant).map { [$0] } ?? []
    }

    /// Nothing, where no worker answers: its last calls say how it ended, not how push services are.
    private var known: [Calls] {
        statuses.isEmpty ? [] : situation.calls.sorted { $0.key < $1.key }.map { (service: $0.key, calls: $0.value) }
    }

    private static let failing = Trouble(
        key: .callsFail, limit: failingShare, words: "fail", isMeant: ServiceCalls.isFailing)
    /// What most of them do, of calls none of which gets through.
    private static func undelivered(_ calls: [Calls]) -> Trouble {
        let ends = calls.flatMap(\.calls.ends).sorted { $0.value > $1.value }.map(\.key)
        var trouble = failing
        trouble.isMeant = ServiceCalls.isUndelivered
        switch ends.first.flatMap(CallEnd.init) {
        case .answered(.rejected): trouble.words = "are rejected"
        case .answered(.credentials): trouble.words = refused.words
        case .throttled: trouble.words = throttled.words
        default: break
        }
        return trouble
    }

    private static let throttled = Trouble(
        key: .throttled, limit: throttledShare, words: "are answered with 429"
    ) { CallEnd(word: $0) == .throttled }
    private static let refused = Trouble(
        key: .credentials, limit: refusedShare, words: "are refused with 401 or 403"
    ) { CallEnd(word: $0) == .answered(.credentials) }
    private static let unanswered = Trouble(
        key: .unanswered, limit: unansweredShare, words: "time out or are cut off",
        isMeant: ServiceCalls.mayHaveArrived)

    private func finding(_ trouble: Trouble, _ calls: [Calls]) -> ToldFinding? {
        let concerned = calls.filter {
            $0.calls.share(trouble.isMeant) > trouble.limit && !isOver($0.calls, trouble.isMeant)
        }
        guard !concerned.isEmpty else { return nil }
        let rate = trouble.key == Self.throttled.key ? rate(concerned.map(\.service)) : ""
        return ToldFinding(
            trouble.key, words(concerned, trouble) + rate, place: concerned.map(\.service), waiting: waiting)
    }

    /// `25 % of apns's calls fail`, `60 to 75 % of the calls for apns, gcm and wns fail, the last 12 s ago`.
    private func words(_ calls: [Calls], _ trouble: Trouble) -> String {
        let percents = calls.map { Int(saturating: $0.calls.share(trouble.isMeant) * 100) }
        let (least, most) = (percents.min() ?? 0, percents.max() ?? 0)
        let share = least == most ? "\(most) %" : "\(least) to \(most) %"
        let whose =
            calls.count == 1 ? "\(calls[0].service)'s calls" : "the calls for \(Self.listed(calls.map(\.service)))"
        let age = secondsSinceLast(calls.map(\.calls), trouble.isMeant).map { ", the last \($0) s ago" } ?? ""
        return "\(share) of \(whose) \(trouble.words)\(age)"
    }

    /// Whether the calls that ended so are over: the last is old, and nothing waits that could end so again.
    private func isOver(_ calls: ServiceCalls, _ isMeant: (String) -> Bool) -> Bool {
        observation?.retrying == 0 && secondsSinceLast([calls], isMeant) != nil
    }

    /// `nil` while that is news.
    private func secondsSinceLast(_ calls: [ServiceCalls], _ isMeant: (String) -> Bool) -> Int64? {
        let age = calls.compactMap { $0.last(isMeant) }.max().map { situation.now.time(since: $0) }
        return age.flatMap { $0 > Self.newsAge ? $0.wholeSeconds : nil }
    }

    /// Those of which every call fails: one finding for all that a campaign does not explain.
    private func dead(_ calls: [Calls]) -> [ToldFinding] {
        // With few users nothing is known of others; with many the workers' breaker says that it concerns all.
        let byCampaign = Dictionary(grouping: calls) { situation.deadPatterns[$0.service]?.soleCampaign }
        return byCampaign.sorted { ($0.key ?? "") < ($1.key ?? "") }.map { campaign, calls in
            let services = calls.map(\.service)
            let (words, since) = (words(calls, Self.undelivered(calls)), calls.compactMap(since).min())
            // Workers know the status, and what to do about it.
            let warnings = statuses.flatMap(\.warnings).filter {
                $0.key == FindingKey.pushServiceFailing.rawValue && !services.filter($0.place.contains).isEmpty
            }
            var told =
                campaign.map { name in
                    self.campaign(
                        .campaignDead, name,
                        title: "Campaign \(SafeText.escaped(name)): \(Self.deliverNothing(services))", words,
                        since: since)
                }
                ?? ToldFinding(
                    .pushServiceFailing, title: Self.deliverNothing(services), words, place: services, since: since,
                    waiting: waiting, step: warnings.first?.step)
            // Several have something in common only if that is the same.
            let why = Set(services.map { situation.deadPatterns[$0]?.phrases(without: .service) ?? [] })
            told.traits = why.count == 1 ? why.first ?? [] : []
            if told.traits.isEmpty, services.count == 1,
                let status = warnings.lazy.compactMap({ $0.numbers["status"] }).first(where: { $0 > 0 })
            {
                told.traits = ["the latest with status \(status)"]
            }
            told.isSinceBound = calls.contains { $0.calls.mayBeOlder }
            return told
        }
    }

    /// `gcm delivers nothing`, `apns and gcm deliver nothing`, `4 push services deliver nothing`.
    private static func deliverNothing(_ services: [String]) -> String {
        let names = services.count > 3 ? "\(services.count) push services" : listed(services)
        return "\(names) deliver\(services.count == 1 ? "s" : "") nothing"
    }

    /// Whether its calls are rejected since a moment ago, and too few results were seen to tell whose they are.
    private func isUnread(_ one: Calls) -> Bool {
        guard let since = one.calls.nothingSince, situation.now.time(since: since) < Self.readingTime else {
            return false
        }
        return one.calls.ends.keys.contains { CallEnd(word: $0) == .answered(.rejected) }
            && situation.deadPatterns[one.service]?.total ?? 0 < FailurePattern.leastAlone
    }

    private func since(_ one: Calls) -> WallTime? {
        let pattern = situation.deadPatterns[one.service]
        if let pattern, pattern.soleCampaign != nil { return pattern.first }
        return [one.calls.nothingSince, pattern?.first].compactMap { $0 }.min()
    }

    private func rate(_ services: [String]) -> String {
        let limits = services.compactMap { service -> (String, Double)? in
            let limits = statuses.flatMap(\.services).filter { $0.pns == service }.compactMap(\.callsPerSecond)
            return limits.isEmpty ? nil : (service, limits.reduce(0, +))
        }
        guard !limits.isEmpty else { return "" }
        let words = limits.map { service, limit in
            "about \(grouped(whole(limit))) a second" + (services.count == 1 ? "" : " for \(service)")
        }
        return "; the backend bears " + Self.listed(words)
    }

    private static func listed(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }
}
