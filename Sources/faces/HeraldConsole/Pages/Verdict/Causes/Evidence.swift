import HeraldTime

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

/// What was seen of notifications that were delivered and of those that fail for now: samples of the last hour, pure.
struct Evidence: Sendable {
    private struct Sample: Sendable {
        var at: WallTime
        var traits: NotificationTraits
    }

    /// The newest samples; the oldest make room.
    private struct Samples: Sendable {
        private static let limit = 8_192

        private var ring: [Sample] = []
        private var next = 0

        mutating func add(_ sample: Sample) {
            if ring.count < Self.limit { ring.append(sample) } else { ring[next] = sample }
            next = (next + 1) % Self.limit
        }

        /// Those of so long ago at most, in no order.
        func within(_ span: Milliseconds, of now: WallTime) -> some Sequence<Sample> {
            ring.lazy.filter { now.time(since: $0.at) <= span }
        }
    }

    private static let deliveredSpan: Milliseconds = .hours(1)
    private static let failingSpan: Milliseconds = .minutes(10)

    private var delivered = Samples()
    private var failing = Samples()
    private(set) var openReplays = OpenReplays()
    /// Settings may name 64 push services.
    private static let serviceLimit = 65
    private var lastDelivered: [String: WallTime] = [:]

    init() {}

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

    mutating func add(open replay: OpenReplay) { openReplays.add(replay) }

    func delivered(now: WallTime) -> TraitTally {
        var tally = TraitTally()
        for sample in delivered.within(Self.deliveredSpan, of: now) { tally.add(sample.traits, at: sample.at) }
        return tally
    }

    /// The status with which a push service's calls are refused; `nil` when retries tell none, or both.
    func refusal(_ service: String, now: WallTime) -> Int64? {
        var statuses: Set<Int64> = []
        for sample in failing.within(Self.failingSpan, of: now) where sample.traits.services.contains(service) {
            if let status = sample.traits.status, status == 401 || status == 403 { statuses.insert(status) }
        }
        return statuses.count == 1 ? statuses.first : nil
    }

    /// Push services whose calls fail for a large share, as the retry topics show it: for a console without a worker's
    /// answer.
    func retryTroubles(now: WallTime) -> [RetryTrouble] {
        var (failures, successes): ([String: Int], [String: Int]) = ([:], [:])
        var newest: [String: WallTime] = [:]
        for sample in failing.within(Self.retriesSpan, of: now) {
            for service in Set(sample.traits.services) {
                failures[service, default: 0] += 1
                newest[service] = max(newest[service] ?? sample.at, sample.at)
            }
        }
        for sample in delivered.within(Self.retriesSpan, of: now) {
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
        for sample in failing.within(isDead ? Self.failingSpan : Self.retriesSpan, of: now)
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

    private static let retriesSpan: Milliseconds = .minutes(1)
    private static let leastRetries = 10
    private static let failingShare = 0.2

    /// What of a push service fails, since it last delivered something.
    func failing(_ service: String, now: WallTime) -> TraitTally {
        var tally = TraitTally()
        let last = lastDelivered[service]
        for sample in failing.within(Self.failingSpan, of: now)
        where sample.traits.services.contains(service) && last.map({ $0 < sample.at }) ?? true {
            tally.add(sample.traits, at: sample.at)
        }
        return tally
    }
}
