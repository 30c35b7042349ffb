import HeraldText
import HeraldThreads
import HeraldTime
import HeraldTools

/// Push services whose newest retries say that their calls fail.
struct RetryTrouble: Sendable, Equatable {
    var services: [String]
    /// Whether nothing was delivered since.
    var isDead: Bool
    var pattern: FailurePattern
    /// When the newest was written.
    var last: WallTime
    /// Whether it began before the first that was seen.
    var isSinceBound: Bool
}

/// What was seen of notifications that were delivered, of those that fail for now, and of those that were rejected: samples of
/// the last hour, pure.
struct Evidence: Sendable {
    fileprivate struct Sample: Sendable {
        var at: WallTime
        var traits: NotificationTraits
    }

    private static let deliveredSpan: Milliseconds = .hours(1)
    static let failingSpan: Milliseconds = .minutes(10)

    private var delivered = Ring<Sample>(limit: 8_192)
    private var failing = Ring<Sample>(limit: 8_192)
    private var rejected = Ring<Sample>(limit: 8_192)
    private(set) var openReplays = OpenReplays()
    /// Settings may name 64 push services.
    private static let serviceLimit = 65
    private var lastDelivered: [String: WallTime] = [:]

    mutating func add(delivered traits: NotificationTraits, at moment: WallTime) {
        delivered.add(Sample(at: moment, traits: traits))
        for service in traits.services where lastDelivered.count < Self.serviceLimit {
            lastDelivered[service] = max(lastDelivered[service] ?? moment, moment)
        }
    }

    /// Takes one that waits for a retry because a call failed.
    mutating func add(failing traits: NotificationTraits, at moment: WallTime) {
        failing.add(Sample(at: moment, traits: traits))
    }

    /// Takes one of which the backend has rejected a call for good.
    mutating func add(rejected traits: NotificationTraits, at moment: WallTime) {
        rejected.add(Sample(at: moment, traits: traits))
    }

    mutating func add(open replay: OpenReplay) { openReplays.add(replay) }

    func delivered(now: WallTime) -> TraitTally {
        var tally = TraitTally()
        for sample in delivered.within(Self.deliveredSpan, of: now) { tally.add(sample.traits, at: sample.at) }
        return tally
    }

    /// Push services whose calls fail for a large share, as the retry topics show it: for a console without a worker's
    /// answer.
    func retryTroubles(now: WallTime) -> [RetryTrouble] {
        var (failures, successes): ([String: Int], [String: Int]) = ([:], [:])
        var newest: [String: WallTime] = [:]
        for sample in failing.within(Self.newestSpan, of: now) {
            for service in Set(sample.traits.services) {
                failures[service, default: 0] += 1
                newest[service] = max(newest[service] ?? sample.at, sample.at)
            }
        }
        for sample in delivered.within(Self.newestSpan, of: now) {
            for service in sample.traits.services { successes[service, default: 0] += 1 }
        }
        let concerned = failures.filter { service, count in
            count >= Self.leastRetries
                && Double(count) > Self.failingShare * Double(count + (successes[service] ?? 0))
        }.keys.sorted()
        let dead = concerned.filter { service in
            successes[service] == nil && lastDelivered[service].map { $0 < newest[service] ?? now } ?? true
        }
        let alive = concerned.filter { !dead.contains($0) }
        return [(dead, true), (alive, false)].compactMap { services, isDead in
            trouble(services, isDead: isDead, last: services.compactMap { newest[$0] }.max(), now)
        }
    }

    private func trouble(_ services: [String], isDead: Bool, last: WallTime?, _ now: WallTime) -> RetryTrouble? {
        guard !services.isEmpty, let last else { return nil }
        var tally = TraitTally()
        let wanted = Set(services)
        for sample in failing.within(isDead ? Self.failingSpan : Self.newestSpan, of: now)
        where !wanted.isDisjoint(with: sample.traits.services) {
            let delivered = sample.traits.services.compactMap { lastDelivered[$0] }.max()
            if !isDead || delivered.map({ $0 < sample.at }) ?? true { tally.add(sample.traits, at: sample.at) }
        }
        return FailurePattern(failed: tally, delivered: TraitTally()).map {
            RetryTrouble(
                services: services, isDead: isDead, pattern: $0, last: last,
                isSinceBound: !isDead || services.contains { lastDelivered[$0] == nil })
        }
    }

    static let newestSpan: Milliseconds = .minutes(1)
    private static let leastRetries = 10
    private static let failingShare = 0.2

    /// What of a push service fails or is rejected, since it last delivered something.
    ///
    /// - Parameter campaign: the one whose notifications are meant; `nil` for all.
    func undelivered(
        _ service: String, of campaign: String? = nil, within span: Milliseconds = failingSpan, now: WallTime
    ) -> TraitTally {
        var tally = TraitTally()
        let last = lastDelivered[service]
        for ring in [failing, rejected] {
            for sample in ring.within(span, of: now)
            where sample.traits.services.contains(service) && last.map({ $0 < sample.at }) ?? true
                && (campaign == nil || sample.traits.campaign == campaign)
            {
                tally.add(sample.traits, at: sample.at)
            }
        }
        return tally
    }
}

extension Ring<Evidence.Sample> {
    /// Those of so long ago at most, in no order.
    fileprivate func within(_ span: Milliseconds, of now: WallTime) -> some Sequence<Evidence.Sample> {
        unordered.lazy.filter { now.time(since: $0.at) <= span }
    }
}

/// A replayed event that waits for its next call.
struct OpenReplay: Sendable, Equatable {
    /// Of which request record, as `topic/partition/offset`.
    var origin: String
    var services: [String]
    var status: Int64?
    var detail: String?
    var answeredAt: WallTime
    /// When the next call is due; `nil` when that is not told.
    var nextCall: WallTime?

    var json: JSONValue {
        .present([
            .init("pns", .array(services.map { .string(SafeText.escaped($0)) })),
            .init("status", .count(status)),
            .init("detail", .text(detail.map(SafeText.escaped))), .init("answeredAt", .string(answeredAt.text)),
            .init("nextCall", .text(nextCall?.text)),
        ])
    }
}

/// The replayed events that wait for their next call, as the retry topics tell: pure, and bounded.
struct OpenReplays: Sendable {
    private static let limit = 256
    /// A call that should have been made so long ago has been made, and what came of it is told elsewhere.
    private static let patience: Milliseconds = .seconds(30)

    private var replays: [String: OpenReplay] = [:]

    mutating func add(_ replay: OpenReplay) {
        let key = replay.origin + " " + replay.services.joined(separator: ",")
        if let known = replays[key], known.answeredAt > replay.answeredAt { return }
        replays[key] = replay
        guard replays.count > Self.limit, let oldest = replays.min(by: { $0.value.answeredAt < $1.value.answeredAt })
        else { return }
        replays[oldest.key] = nil
    }

    /// Those that were answered since then and are due to be called, the newest first.
    func since(_ moment: WallTime, now: WallTime) -> [OpenReplay] {
        replays.values.filter {
            $0.answeredAt >= moment
                && now.time(since: $0.nextCall ?? $0.answeredAt) <= Self.patience
        }.sorted { ($1.answeredAt, $1.origin) < ($0.answeredAt, $0.origin) }
    }
}

/// What the page Now has found out, and the page Failures says beside its groups and plans.
final class TroubleBoard: Sendable {
    private struct State {
        var evidence = Evidence()
        var dead: [String] = []
    }

    private let state = Guarded(State())

    /// Notes what was seen, and of which push services every call fails now.
    func note(_ evidence: Evidence, dead: [String]) {
        state.withLock { $0 = State(evidence: evidence, dead: dead) }
    }

    /// What was delivered within the hour.
    func delivered(now: WallTime) -> TraitTally { state.withLock { $0.evidence }.delivered(now: now) }

    /// The replayed events that were answered since then and wait for their next call, the newest first.
    func openReplays(since moment: WallTime, now: WallTime) -> [OpenReplay] {
        state.withLock { $0.evidence }.openReplays.since(moment, now: now)
    }

    /// The push services of which every call fails now.
    var deadServices: [String] { state.withLock { $0.dead } }
}
