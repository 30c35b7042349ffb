import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldTime
import HeraldWorker

/// The effect of always failing users on others: a bounded delay, and no more.
package struct Bystanders: Sendable, CustomStringConvertible {
    package var description: String
    /// The failing users: one of `every`, or when negative all but one of them.
    var every = 1
    /// The failing users instead: a share in thousandths, chosen by the seed.
    var share: (thousandths: Int, seed: UInt64)?
    var status = 503
    /// The wait that their refusals ask for, if any.
    var retryAfter: Milliseconds?
    /// The beginning of the failures (milliseconds after the first event).
    var failsFrom: Int64 = 0
    /// Whether their calls end by time-outs, without an answer.
    var hangs = false
    /// The latencies of their answers from given times on (milliseconds after the first event), if they differ from the
    /// others'.
    var latencies: [(from: Int64, latency: Int64)] = []
    /// The number of calls a second that the backend processes, one after the other.
    var capacity: Int64?
    /// The share of connections in millionths, of sixteen calls each, that end with all of them; no outage may begin
    /// then.
    var connectionLosses = 0
    /// The number of events, and of their users, published at once.
    var events = 600
    var users = 600
    /// Whether they are a campaign, in the last topic.
    var isCampaign = false
    /// Whether they belong to a campaign that the worker knows, so that its failures may begin no outage; the worker is
    /// asked to pause it.
    var isKnown = false
    /// Whether the failing users' events follow each other, and are not mixed with the others'.
    var isClump = false
    /// The number of events with each code; 0: all of them come at once, before the first code.
    var eventsWithCode = 0
    /// The limit of calls in flight.
    var maxInFlight = 64
    /// One-time codes of other users, a second.
    var codes = 5
    /// The longest wait of a code for its answer (milliseconds): while the backlog is called, or until a probe has
    /// found that others get through.
    var bound: Int64 = 500
    /// The bound for the faster half of the codes (milliseconds).
    var median = Int64.max
    /// The time from which the bounds apply (milliseconds after the first event).
    var boundFrom: Int64 = 0
    /// The delays of the retry topics.
    var retryDelays = ["1s", "30s"]
    /// The number of marked users' calls that have to be answered in the end.
    var answers = 0
    /// The largest number of the marked users' calls with an answer.
    var mostAnswers = Int.max
    /// The largest number of records in the delay topics until then.
    var deferrals = Int.max
    /// Whether records are written in transactions.
    var isAtomic = false
    /// What is wrong with the first delay's topic.
    var delayFault: DelayFault?

    package static let all =
        usual + refusals + campaigns
        + usual.filter(\.isLoud).map {
            var atomic = $0
            atomic.description += ", in transactions"
            atomic.isAtomic = true
            return atomic
        }

    private static let usual = [
        Self(description: "a fifth fails", every: 5),
        Self(description: "a fifth fails beside few others", every: 5, codes: 1),
        Self(description: "two of three fail", every: -3),
        Self(description: "a third is rejected", every: 3, status: 400),
        Self(description: "few users fail often", users: 30),
        Self(description: "few users are rejected often", status: 400, users: 30),
        Self(description: "very few users are rejected often", status: 400, users: 8, codes: 1, bound: 1_000),
        Self(description: "a fifth fails, one behind the other", every: 5, isClump: true, bound: 3_000),
        Self(
            description: "a half is rejected, one behind the other", every: 2, status: 400, isClump: true, bound: 3_000),
        Self(description: "a campaign fails", isCampaign: true, bound: 2_000),
        Self(description: "a campaign is rejected", status: 400, isCampaign: true, bound: 2_000),
        Self(description: "a tenth is refused", every: 10, status: 403, bound: 300),
        Self(
            description: "a tenth is refused, one after the other", every: 10, status: 403, eventsWithCode: 1,
            codes: 20,
            bound: 45),
        Self(description: "a twentieth is told to wait", every: 20, status: 429, codes: 20),
        Self(
            description: "every second one hangs", every: 2, hangs: true, eventsWithCode: 1, maxInFlight: 1_000,
            codes: 20),
        Self(
            description: "a third of many hangs", every: 3, hangs: true, latencies: [(0, 3_000)], events: 30_000,
            users: 30_000, eventsWithCode: 100, maxInFlight: 1_000),
        Self(
            description: "a third of many users hangs", every: 3, hangs: true, latencies: [(0, 3_000)],
            events: 30_000, users: 3_000, eventsWithCode: 100, maxInFlight: 1_000),
        Self(
            description: "a third of few users hangs for long", every: 3, hangs: true, events: 12_000, users: 900,
            eventsWithCode: 40, maxInFlight: 1_000),
        Self(
            description: "ever new users hang before a backend at its limit", every: 9, hangs: true,
            capacity: 200, events: 10_800, users: 10_800, eventsWithCode: 36, maxInFlight: 1_000, bound: 6_000,
            boundFrom: 10_000),
        Self(
            description: "one user has 60 000 events", status: 200, events: 60_000, users: 1, maxInFlight: 1_000,
            bound: 1_000, answers: 2_700),
        Self(
            description: "one user has a hundred events a second", status: 200, events: 6_000, users: 1,
            eventsWithCode: 20, maxInFlight: 1_000, answers: 2_700),
        Self(
            description: "one user has a hundred events a second, with the default delays", status: 200, events: 6_000,
            users: 1, eventsWithCode: 20, maxInFlight: 1_000, retryDelays: ["5s", "30s", "5m", "30m", "2h"],
            answers: 2_700),
        Self(
            description: "one user has 60 000 events, with the default delays", status: 200, events: 60_000, users: 1,
            maxInFlight: 1_000, bound: 1_000, retryDelays: ["5s", "30s", "5m", "30m", "2h"], answers: 3_200,
            deferrals: 120_000),
        Self(
            description: "one user has 60 000 events, with short delays", status: 200, events: 60_000, users: 1,
            maxInFlight: 1_000, bound: 1_000, retryDelays: ["1s", "2s"], answers: 2_700, deferrals: 300_000),
        Self(
            description: "one user has 60 000 events, and his calls become quicker", status: 200,
            latencies: [(0, 200), (20_000, 20)], events: 60_000, users: 1, maxInFlight: 1_000, bound: 1_000,
            retryDelays: ["1s", "2s"], answers: 2_400),
        Self(
            description: "thirty users have 2 000 events each", status: 200, events: 60_000, users: 30,
            maxInFlight: 1_000, bound: 2_000, answers: 45_000),
        Self(
            description: "one slow user has a thousand events", status: 200, latencies: [(0, 700)], events: 1_000,
            users: 1, maxInFlight: 64, answers: 77),
        Self(
            description: "nearly all calls become slow", every: -33, status: 200,
            latencies: [(10_000, 1_500)], events: 12_000, users: 12_000, eventsWithCode: 40, maxInFlight: 1_000,
            boundFrom: 20_000),
        Self(
            description: "nearly all calls become slow, and are overtaken now and then", every: -29, status: 200,
            latencies: [(10_000, 1_500)], events: 12_000, users: 12_000, eventsWithCode: 40, maxInFlight: 1_000,
            boundFrom: 20_000),
        Self(
            description: "most calls become slow, and are overtaken", every: -20, status: 200,
            latencies: [(10_000, 1_500)], events: 12_000, users: 12_000, eventsWithCode: 40, maxInFlight: 1_000,
            boundFrom: 20_000),
        Self(
            description: "all calls become slow twice", status: 200, latencies: [(10_000, 700), (20_000, 2_500)],
            events: 6_000, users: 6_000, eventsWithCode: 20, maxInFlight: 1_000, boundFrom: 35_000),
        Self(
            description: "calls are slow from the beginning", status: 200, latencies: [(0, 1_500)],
            events: 12_000, users: 12_000, eventsWithCode: 40, maxInFlight: 1_000, boundFrom: 10_000),
        Self(
            description: "every connection ends within two seconds, with all its calls", status: 200,
            latencies: [(0, 200)], connectionLosses: 1_000_000, events: 12_000, users: 12_000, eventsWithCode: 40,
            maxInFlight: 1_000,
            bound: 12_000, answers: 11_900),
        Self(
            description: "every connection ends within two seconds, and each call is on one", status: 200,
            connectionLosses: 1_000_000, events: 300, users: 300, eventsWithCode: 1, bound: 12_000, answers: 300),
        Self(
            description: "a campaign overloads the backend", status: 200, capacity: 100, events: 10_000, users: 10_000,
            isCampaign: true, maxInFlight: 1_000, bound: 1_500, boundFrom: 10_000),
        Self(
            description: "a third fails, and the topic of its retries refuses them", every: 3, events: 18_000,
            users: 18_000, eventsWithCode: 30, maxInFlight: 1_000, codes: 10, bound: 1_000, retryDelays: ["5s", "30s"],
            isAtomic: true, delayFault: .refusesBatches),
        Self(
            description: "a third fails, and the topic of its retries is deleted", every: 3, events: 18_000,
            users: 18_000, eventsWithCode: 30, maxInFlight: 1_000, codes: 10, bound: 1_000, retryDelays: ["5s", "30s"],
            isAtomic: true, delayFault: .isMissing),
    ]

    /// Whether few users have many events.
    private var isLoud: Bool { status == 200 && events > 100 * users }

    /// The broken bound, if there is one.
    package func violation() -> String? {
        let world = FailingUsers(
            answer: hangs ? CallResult(failure: .timeout) : CallResult(status: status, retryAfter: retryAfter),
            from: failsFrom, latencies: latencies, capacity: capacity, connectionLosses: connectionLosses,
            maxInFlight: maxInFlight, delays: retryDelays, isAtomic: isAtomic, delayFault: delayFault,
            campaign: isKnown ? "autumn" : nil)
        let names = (0..<events).map { number in
            let user = number % users
            return (fails(user) ? FailingUsers.mark : "good-") + "\(user)"
        }
        if eventsWithCode == 0 {
            for name in isClump ? names.sorted() : names {
                world.publish(name, to: isCampaign ? 1 : 0, ofCampaign: true)
            }
        }
        for number in 0..<60 * codes {
            for name in names.dropFirst(number * eventsWithCode).prefix(eventsWithCode) {
                world.publish(name, to: isCampaign ? 1 : 0, ofCampaign: true)
            }
            world.publish("code-\(number)", to: 0)
            world.run(for: Int64(1_000 / codes))
        }
        // Calls that hung until their deadline are repeated.
        world.run(for: connectionLosses > 0 ? 60_000 : 10_000)
        world.letGo()
        let delays = (Int(boundFrom) * codes / 1_000..<60 * codes).map { world.delays["code-\($0)"] }
        if delays.contains(nil) { return "\(self): others are never called" }
        let sorted = delays.compactMap(\.self).sorted()
        if let delay = sorted.last, delay > bound {
            return "\(self): others wait for \(delay) ms, \(bound) are allowed"
        }
        if !sorted.isEmpty, sorted[sorted.count / 2] > median {
            return "\(self): half of the others wait for \(sorted[sorted.count / 2]) ms, \(median) are allowed"
        }
        if isKnown, world.outages > 0 {
            return "\(self): \(world.outages) outages began; others wait for \(sorted.last ?? 0) ms, "
                + "\(world.markedAnswers) calls of the campaign were answered"
        }
        if connectionLosses > 0, world.outages > 0 {
            return "\(self): \(world.outages) outages began, and the backend is well"
        }
        if isKnown, !world.hasAskedForPause { return "\(self): the campaign is not paused" }
        if world.markedAnswers > mostAnswers {
            return "\(self): \(world.markedAnswers) calls were answered, \(mostAnswers) are allowed"
        }
        if world.overtaken > 0 { return "\(self): \(world.overtaken) calls came after a later event's of their user" }
        if world.markedAnswers < answers {
            return "\(self): \(world.markedAnswers) calls were answered, \(answers) are wanted"
        }
        if world.deferrals > deferrals {
            return "\(self): \(world.deferrals) records went into delay topics, \(deferrals) are allowed"
        }
        return nil
    }

    private func fails(_ user: Int) -> Bool {
        guard let share else { return every < 0 ? user % -every != 0 : user % every == 0 }
        var chance = Chance(seed: share.seed, for: "bystanders.user.\(user)")
        return chance.below(1_000) < share.thousandths
    }
}
