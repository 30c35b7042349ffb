import HeraldCampaigns
import HeraldEvents
import HeraldKafka
import HeraldText
import HeraldThreads
import HeraldTime
import HeraldTimeline
import HeraldTools

/// Follows the campaigns topic for campaigns whose own events fail, on a thread of its own.
final class CampaignTroubleWatch: ClusterWatch {
    static let threadName = "console-campaigns"
    private static let turn = Duration.seconds(2)
    /// Partitions that were added, and a topic that was recreated, are found within this time.
    private static let renewal = Duration.seconds(60)
    private static let questionTimeout = Milliseconds.seconds(4)

    private let plan: NowPlan
    private let known = Guarded(Known())

    private struct Known {
        var index = CampaignIndex()
        /// What became of campaigns whose publisher has ended: nobody else counts on for them.
        var counts: [String: OutcomeCount] = [:]
    }
    let wakeup: Wakeup

    init(_ plan: NowPlan) throws(SystemError) {
        self.plan = plan
        wakeup = try Wakeup()
    }

    /// What is known now, by the campaigns' names.
    func troubles(now: WallTime) -> [CampaignTrouble] {
        let known = known.withLock { $0 }
        return known.index.names.compactMap(known.index.campaign).compactMap { campaign in
            CampaignTrouble(campaign, counted: known.counts[campaign.name], now: now)
        }
    }

    /// Those of which something may still be called, and that can be paused.
    func running(now: WallTime) -> Set<String> {
        let known = known.withLock { $0 }
        return Set(
            known.index.names.compactMap(known.index.campaign).filter { campaign in
                let count = known.counts[campaign.name] ?? OutcomeCount(snapshot: campaign.progress?.outcomes ?? [:])
                let state = CampaignStatus(campaign: campaign, count: count, now: now).state
                return [.running, .waiting, .stopped].contains(state)
            }.map(\.name))
    }

    /// Without the topic, or the right to read it, nothing is said of campaigns.
    func run() { repeated(follow) }

    private func follow() throws {
        let questions = try TopicReader(properties: plan.readerProperties)
        let found = try questions.consumer.queries.partitions(
            of: plan.search.topics.campaigns, timeout: Self.questionTimeout)
        let results = try? questions.consumer.queries.partitions(
            of: plan.search.topics.results, timeout: Self.questionTimeout)
        questions.close()
        guard !found.isEmpty else { return }
        let reader = try CampaignReader(
            properties: plan.readerProperties, topic: plan.search.topics.campaigns, partitions: found.map(\.partition))
        defer { reader.close() }
        try reader.catchUp()
        var outcomes: OutcomeReader?
        defer { outcomes?.close() }
        let end = ContinuousClock.now + Self.renewal
        repeat {
            let read = reader.index
            let now = SystemClock.wall()
            let left = read.names.compactMap(read.campaign).filter { CampaignTrouble.isLeftAlone($0, now: now) }
            if Set(left.map(\.name)) != Set(outcomes.map { Array($0.subjects.keys) } ?? []) {
                outcomes?.close()
                outcomes = try count(left, results?.map(\.partition) ?? [])
            }
            try outcomes?.catchUp()
            let counts = outcomes?.subjects.mapValues(\.count) ?? [:]
            known.withLock { $0 = Known(index: read, counts: counts) }
            guard ContinuousClock.now < end, !wakeup.wait(for: Self.turn) else { return }
            try reader.poll()
        } while true
    }

    private func count(_ campaigns: [CampaignIndex.Campaign], _ partitions: [Int32]) throws -> OutcomeReader? {
        let subjects = campaigns.compactMap { campaign in
            campaign.definition.map { OutcomeReader.Subject($0, after: campaign.progress) }
        }
        guard !subjects.isEmpty, !partitions.isEmpty else { return nil }
        return try OutcomeReader(
            properties: plan.readerProperties, topic: plan.search.topics.results, partitions: partitions, of: subjects)
    }
}

/// A campaign whose own events fail, that nobody publishes any more, or that is paused: what its records say of that.
struct CampaignTrouble: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        /// Workers or its publisher have paused it because so many failed.
        case paused
        /// An operator has paused it.
        case held
        /// It waits at a hold until an operator says go.
        case waits
        case fails
        /// Recipients are left, and nobody publishes them.
        case stopped
        /// Its moment came within the last day, before all were published.
        case expired
    }

    /// Fewer outcomes say nothing of how many fail.
    private static let leastCount = 20
    private static let failingShare = 0.2

    var name: String
    var kind: Kind
    /// Without a full stop.
    var cause: String
    /// Since when it is paused, or nobody publishes it.
    var since: WallTime?

    /// Whether only the results say what becomes of it: all is published, and its publisher has ended.
    static func isLeftAlone(_ campaign: CampaignIndex.Campaign, now: WallTime) -> Bool {
        guard campaign.progress?.isComplete ?? false, let trouble = Self(campaign, now: now) else { return false }
        let status = CampaignStatus(campaign: campaign, count: OutcomeCount(), now: now)
        return !status.isPublisherAlive && trouble.kind == .fails
    }

    /// `nil` when nothing is known against it, or nothing of it is to come.
    ///
    /// - Parameter counted: its outcomes, where more is known than its publisher has written.
    init?(_ campaign: CampaignIndex.Campaign, counted: OutcomeCount? = nil, now: WallTime) {
        let count = counted ?? OutcomeCount(snapshot: campaign.progress?.outcomes ?? [:])
        let status = CampaignStatus(campaign: campaign, count: count, now: now)
        name = campaign.name
        since = status.since
        switch status.state {
        case .scheduled, .cancelled, .finished: return nil
        case .expired:
            let left = status.recipientsLeft
            guard left > 0, let since, now.time(since: since) <= .days(1) else { return nil }
            kind = .expired
            cause = "\(CampaignWords.counted(left, "recipient")) \(left == 1 ? "was" : "were") never notified"
        case .paused:
            guard let control = campaign.control else { return nil }
            kind = control.isByFailures ? .paused : .held
            cause = SafeText.escaped(
                control.reason ?? (control.isByFailures ? "too many of its notifications fail" : ""))
        case .waiting:
            kind = .waits
            cause = CampaignWords.hold(status) ?? ""
        case .stopped:
            kind = .stopped
            cause = CampaignWords.withoutPublisher(status)
        case .running:
            since = nil
            let known = count.failed + count.delivered
            guard known >= Self.leastCount, Double(count.failed) >= Self.failingShare * Double(known) else {
                return nil
            }
            kind = .fails
            cause =
                "\(CampaignWords.number(count.failed)) of \(CampaignWords.number(known)) outcomes failed"
                + Self.limit(campaign.control?.pauseIfFailures)
        }
    }

    private static func limit(_ share: Double?) -> String {
        guard let share else {
            return "; it pauses when half of a worker's latest calls are rejected with one status"
        }
        return "; it pauses when more than \(ShareText.text(share)) fail after its start or its last resume"
    }
}
