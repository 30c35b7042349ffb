import HeraldTime

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

        /// Those of the last milliseconds, in no order.
        func within(_ milliseconds: Int64, of now: WallTime) -> some Sequence<Sample> {
            ring.lazy.filter { now.milliseconds(since: $0.at) <= milliseconds }
        }
    }

    private static let deliveredMilliseconds: Int64 = 3_600_000
    private static let failingMilliseconds: Int64 = 600_000

    private var delivered = Samples()
    private var failing = Samples()
    private(set) var openReplays = OpenReplays()
    private var lastDelivered: [String: WallTime] = [:]

    init() {}

    /// Takes one that was delivered.
    mutating func add(delivered traits: NotificationTraits, at moment: WallTime) {
        delivered.add(Sample(at: moment, traits: traits))
        for service in traits.services where lastDelivered.count < WorkerNumbers.serviceLimit {
            lastDelivered[service] = max(lastDelivered[service] ?? moment, moment)
        }
    }

    /// Takes one that waits for a retry because a call failed.
    mutating func add(failing traits: NotificationTraits, at moment: WallTime) {
        failing.add(Sample(at: moment, traits: traits))
    }

    /// Takes a replayed event that waits for its next call.
    mutating func add(open replay: OpenReplay) { openReplays.add(replay) }

    /// What was delivered within the hour.
    func delivered(now: WallTime) -> TraitTally {
        var tally = TraitTally()
        for sample in delivered.within(Self.deliveredMilliseconds, of: now) { tally.add(sample.traits, at: sample.at) }
        return tally
    }

    /// The status with which a push service's calls are refused; `nil` when retries tell none, or both.
    func refusal(_ service: String, now: WallTime) -> Int64? {
        var statuses: Set<Int64> = []
        for sample in failing.within(Self.failingMilliseconds, of: now) where sample.traits.services.contains(service) {
            if let status = sample.traits.status, status == 401 || status == 403 { statuses.insert(status) }
        }
        return statuses.count == 1 ? statuses.first : nil
    }

    /// What of a push service fails, since it last delivered something.
    func failing(_ service: String, now: WallTime) -> TraitTally {
        var tally = TraitTally()
        let last = lastDelivered[service]
        for sample in failing.within(Self.failingMilliseconds, of: now)
        where sample.traits.services.contains(service) && last.map({ $0 < sample.at }) ?? true {
            tally.add(sample.traits, at: sample.at)
        }
        return tally
    }
}
