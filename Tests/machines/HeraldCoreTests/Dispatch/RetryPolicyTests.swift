import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("The retry policy")
struct RetryPolicyTests {
    let policy = RetryPolicy()
    let now = WallTime(milliseconds: 1_000_000_000)

    private func decide(
        attempts: Int, first: Bool = true, retryAfter: Int64? = nil, firstAt: Int64 = 0, expiresIn: Int64? = nil,
        quickAllowed: Bool = true, entropy: UInt64 = 0
    ) -> RetryPolicy.Decision {
        policy.decide(
            .init(
                attempts: attempts, isFirstStay: first, retryAfter: retryAfter,
                firstAttemptAt: now.advanced(byMilliseconds: -firstAt),
                expiresAt: expiresIn.map { now.advanced(byMilliseconds: $0) }),
            now: now, quickAllowed: quickAllowed, entropy: entropy)
    }

    @Test("makes eight calls at most: the first, two quick ones, one for each delay")
    func ladder() {
        #expect(decide(attempts: 1) == .quick(after: 0))
        #expect(decide(attempts: 2) == .quick(after: 0))
        #expect(decide(attempts: 3) == .delayed(by: 5_000))
        #expect(decide(attempts: 4, first: false) == .delayed(by: 30_000))
        #expect(decide(attempts: 5, first: false) == .delayed(by: 300_000))
        #expect(decide(attempts: 6, first: false) == .delayed(by: 1_800_000))
        #expect(decide(attempts: 7, first: false) == .delayed(by: 7_200_000))
        #expect(decide(attempts: 8, first: false) == .attemptsExhausted)
    }

    @Test(
        "gives each attempt from a delay topic the delay that its number names, the first at least",
        arguments: [(1, 5_000), (2, 5_000), (3, 5_000), (4, 30_000), (7, 7_200_000)] as [(Int, Int64)])
    func fromDelayTopic(attempts: Int, wait: Int64) {
        #expect(decide(attempts: attempts, first: false) == .delayed(by: wait))
    }

    @Test("waits a random time below a doubling bound before quick retries")
    func jitter() {
        #expect(decide(attempts: 1, entropy: 200) == .quick(after: 200))
        #expect(decide(attempts: 1, entropy: 201) == .quick(after: 0))
        #expect(decide(attempts: 2, entropy: 400) == .quick(after: 400))
        #expect(decide(attempts: 2, entropy: .max) != .quick(after: 401))
    }

    @Test("lets Retry-After lengthen the next wait and skip quick retries")
    func retryAfter() {
        #expect(decide(attempts: 1, retryAfter: 0) == .delayed(by: 5_000))
        #expect(decide(attempts: 1, retryAfter: 7_000) == .delayed(by: 7_000))
        #expect(decide(attempts: 4, first: false, retryAfter: 1_000) == .delayed(by: 30_000))
    }

    @Test(
        "spreads the calls that are left over the time that is left when the next delay ends behind expiry",
        arguments: [
            (5, 300_001, 300_000), (5, 300_000, 75_000), (6, 225_000, 75_000), (7, 150_000, 75_000),
            (5, 264_000, 66_000),
            (5, 19_000, 5_000), (4, 5_001, 5_000), (4, 5_000, nil), (3, 5_000, nil), (7, 9_000, 5_000),
        ] as [(Int, Int64, Int64?)])
    func shorterDelay(attempts: Int, expiresIn: Int64, wait: Int64?) {
        let decision = decide(attempts: attempts, first: false, expiresIn: expiresIn)
        #expect(decision == wait.map { .delayed(by: $0) } ?? .expired)
    }

    @Test("a shorter wait counts as a call, and is never shorter than what Retry-After asks for")
    func shorterDelayBounds() {
        #expect(decide(attempts: 8, first: false, expiresIn: 100_000) == .attemptsExhausted)
        #expect(decide(attempts: 5, first: false, retryAfter: 7_000, expiresIn: 20_000) == .delayed(by: 7_000))
        #expect(decide(attempts: 5, first: false, retryAfter: 20_000, expiresIn: 20_000) == .expired)
        #expect(decide(attempts: 1, expiresIn: 0) == .expired)
    }

    @Test("ends an event whose next call would come after its expiry or after the longest time")
    func bounds() {
        #expect(decide(attempts: 3, expiresIn: 5_000) == .expired)
        #expect(decide(attempts: 3, expiresIn: 5_001) == .delayed(by: 5_000))
        #expect(decide(attempts: 3, firstAt: 86_395_001) == .timeExhausted)
        #expect(decide(attempts: 3, firstAt: 86_395_000) == .delayed(by: 5_000))
    }

    @Test("makes no quick retries while the worker drains")
    func drain() {
        #expect(decide(attempts: 1, quickAllowed: false) == .delayed(by: 5_000))
    }

    @Test(
        "sends a wait to the longest delay that is not longer, and keeps less than the shortest in memory",
        arguments: [
            (4_999, nil), (5_000, 0), (29_999, 0), (30_000, 1), (299_999, 1), (7_200_000, 4), (90_000_000, 4),
        ] as [(Int64, Int?)])
    func hops(wait: Int64, delay: Int?) {
        #expect(policy.hop(for: wait) == delay)
    }
}

@Suite("Retry-After")
struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    let moment = WallTime(milliseconds: 784_111_777_000)

    @Test(
        "is read as seconds or as a date in any of HTTP's three formats, and is ignored when it is neither",
        arguments: [
            ("0", 0), ("7", 7_000), (" 120 ", 120_000), ("00012", 12_000),
            ("99999999999999999999999", 7_200_000), ("9223372036854775807", 7_200_000), ("315360000", 7_200_000),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:50:00 GMT", 23_000),
            ("Sun, 06 Nov 1994 08:49:00 GMT", 0), ("Sunday, 06-Nov-94 08:50:00 GMT", 23_000),
            ("Sun Nov  6 08:50:00 1994", 23_000), ("Fri, 31 Dec 9999 23:59:59 GMT", 7_200_000),
            ("-5", nil), ("+5", nil), ("1.5", nil), ("7 seconds", nil), ("", nil), (" ", nil), ("soon", nil),
            ("0x10", nil), ("Sun, 06 Nov 1994 08:50:00 CET", nil), ("Sun, 31 Feb 1994 08:50:00 GMT", nil),
            ("Sun, 06 Nov 1994 25:50:00 GMT", nil), ("Sun, 06 Foo 1994 08:50:00 GMT", nil), ("٧", nil),
        ] as [(String, Int64?)])
    func forms(field: String, wait: Int64?) {
        #expect(RetryAfter.milliseconds(field, now: moment, limit: 7_200_000) == wait)
    }
}

@Suite("The table of statuses")
struct StatusTableTests {
    @Test("has the design's defaults")
    func defaults() {
        let table = StatusTable()
        for status in 200...299 { #expect(table[status] == .delivered) }
        for status in 300...399 { #expect(table[status] == .rejected) }
        for status in 400...499 {
            switch status {
            case 401, 403: #expect(table[status] == .credentials)
            case 408, 409, 425, 429: #expect(table[status] == .transient)
            default: #expect(table[status] == .rejected)
            }
        }
        for status in [500, 502, 503, 504] { #expect(table[status] == .transient) }
        for status in [-1, 0, 20, 600, 999] { #expect(table[status] == .transient) }
    }

    @Test("takes what the settings say over the defaults")
    func overrides() {
        let table = StatusTable(overrides: [403: .rejected, 404: .transient])
        #expect(table[403] == .rejected)
        #expect(table[404] == .transient)
        #expect(table[401] == .credentials)
    }

    @Test("Only a call that was written and not answered may have arrived")
    func mayHaveArrived() {
        let doubtful = CallFailure.allCases.filter { failure in
            AttemptEntry(
                at: WallTime(milliseconds: 0), pushService: "apns", error: failure.word, durationMilliseconds: 1
            ).mayHaveArrived
        }
        #expect(doubtful == [.reset, .timeout, .brokenHTTP])
    }
}
