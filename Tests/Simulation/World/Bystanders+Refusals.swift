import HeraldTime

/// Refusals that depend on the user, and are no evidence about the rate or the credentials.
extension Bystanders {
    static let refusals = [
        shard("a third is told to wait for 5 s from one moment on", every: 3, retryAfter: .seconds(5), from: 5_000),
        shard("a third is told to wait for 5 s from the first event on", every: 3, retryAfter: .seconds(5)),
        shard("a half is told to wait for a minute", every: 2, retryAfter: .minutes(1), from: 5_000, bound: 500),
        shard("a third gets 429 from one moment on", every: 3, status: 429, from: 5_000),
        shard("a third gets 429 from the first event on", every: 3, status: 429),
        shard("two thirds are told to wait for 5 s", every: -3, retryAfter: .seconds(5), from: 5_000, bound: 500),
        shard(
            "a seventh of very many is told to wait for 5 s", every: 7, retryAfter: .seconds(5), users: 30_000,
            from: 5_000),
        shard("a third of very many is told to wait for 5 s", every: 3, retryAfter: .seconds(5), users: 30_000),
        shard("a third of few users gets 429", every: 3, status: 429, users: 60),
        seenOnce("a third is told to wait for 5 s at once", of: 333, status: 503, retryAfter: .seconds(5), after: 5),
        seenOnce(
            "a third is told to wait for 5 s after a while", of: 333, status: 503, retryAfter: .seconds(5), after: 200),
        seenOnce("a third gets 429 after a while", of: 333, status: 429, retryAfter: .seconds(30), after: 100),
        seenOnce("a half is told to wait for 3 s at once", of: 500, status: 429, retryAfter: .seconds(3), after: 5),
        seenOnce(
            "a half is told to wait for 3 s after a while", of: 500, status: 429, retryAfter: .seconds(3), after: 100),
        seenOnce("a half is told to wait for 30 s at once", of: 500, status: 503, retryAfter: .seconds(30), after: 5),
        seenOnce(
            "a half is told to wait for 5 s as soon as others are answered", of: 500, status: 503,
            retryAfter: .seconds(5), after: 20),
        seenOnce("a tenth is told to wait for 30 s at once", of: 100, status: 503, retryAfter: .seconds(30), after: 5),
        seenOnce("a tenth gets 429 after a while", of: 100, status: 429, retryAfter: .seconds(3), after: 200),
        refused("a tenth is refused with 401 from one moment on", every: 10, from: 5_000),
        refused("a tenth is refused with 401 from the first event on", every: 10),
        refused("a tenth of very many is refused with 403", every: 10, status: 403, users: 30_000, from: 5_000),
        refused("a fifth is refused with 401", every: 5, from: 5_000),
    ]

    /// 500 events a second, and a backend that tells some users to come later.
    private static func shard(
        _ description: String, every: Int, status: Int = 503, retryAfter: Milliseconds? = nil, users: Int = 3_000,
        from: Int64 = 0, bound: Int64 = 2_000
    ) -> Self {
        Self(
            description: description, every: every, status: status, retryAfter: retryAfter, failsFrom: from,
            events: 30_000, users: users, eventsWithCode: 100, maxInFlight: 1_000, bound: bound, median: 500,
            retryDelays: ["1s", "2s"])
    }

    /// 500 events a second, each of them for another user, of whom `of` of a thousand are refused from one moment on,
    /// after `latency` milliseconds: the engine must learn from them without seeing a user twice.
    private static func seenOnce(
        _ description: String, of share: Int, status: Int, retryAfter: Milliseconds, after latency: Int64
    ) -> Self {
        Self(
            description: "of users seen once " + description, share: (share, 1), status: status,
            retryAfter: retryAfter, failsFrom: 5_000, latencies: [(0, latency)], events: 30_000, users: 30_000,
            eventsWithCode: 100, maxInFlight: 1_000, bound: 800, median: 500, retryDelays: ["1s", "2s"])
    }

    /// 500 events a second, and a backend that accepts no credentials for some users.
    private static func refused(
        _ description: String, every: Int, status: Int = 401, users: Int = 3_000, from: Int64 = 0
    ) -> Self {
        Self(
            description: description, every: every, status: status, failsFrom: from, events: 30_000, users: users,
            eventsWithCode: 100, maxInFlight: 1_000, bound: 1_000, retryDelays: ["1s", "2s"])
    }

    /// Promise 7 for a backend that refuses calls for some users: `seed` decides which users, how and when.
    package static func anyRefusals(seed: UInt64) -> Self {
        let choices = Choices(seed: seed)
        let status = choices.pick([429, 429, 503, 503, 401, 403], for: "bystanders.status")
        let waits: [Milliseconds?] =
            status == 503
            ? [.seconds(1), .seconds(5), .seconds(30)]
            : status == 429 ? [nil, nil, .seconds(2), .minutes(1)] : [nil]
        let isRefusal = status == 401 || status == 403
        let share = choices.between(50, isRefusal ? 250 : 600, for: "bystanders.share")
        let codes = choices.pick([5, 10, 20], for: "bystanders.codes")
        let rate = choices.pick([100, 250, 500, 1_000], for: "bystanders.rate")
        let users = choices.pick([100, 1_000, 3_000, 30_000], for: "bystanders.users")
        let from = choices.pick([0, 5_000, 12_000], for: "bystanders.from")
        let retryAfter = choices.pick(waits, for: "bystanders.retryAfter")
        return Self(
            description: "\(share) ‰ of \(users) users with \(rate) events a second get \(status)"
                + (retryAfter.map { ", Retry-After: \($0.count) ms" } ?? "") + ", after \(from) ms",
            share: (Int(share), seed), status: status, retryAfter: retryAfter, failsFrom: Int64(from),
            events: 60 * rate, users: users, eventsWithCode: rate / codes, maxInFlight: 1_000, codes: codes,
            // Users refused from the first event on may be the first ones called, and then all seem to be refused.
            bound: isRefusal ? 1_000 : from == 0 ? 10_000 : 4_000, median: 500,
            retryDelays: choices.pick([["1s", "2s"], ["1s", "30s"], ["5s", "30s", "5m"]], for: "bystanders.delays"))
    }
}
