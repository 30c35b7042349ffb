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
        attempts: Int, first: Bool = true, retryAfter: Milliseconds? = nil, firstAt: Milliseconds = .zero,
        expiresIn: Milliseconds? = nil,
        quickAllowed: Bool = true, entropy: UInt64 = 0
    ) -> RetryPolicy.Decision {
        policy.decide(
            .init(
                attempts: attempts, isFirstStay: first, retryAfter: retryAfter,
                firstAttemptAt: now.advanced(by: -firstAt),
                expiresAt: expiresIn.map { now.advanced(by: $0) }),
            now: now, quickAllowed: quickAllowed, entropy: entropy)
    }

    @Test("makes eight calls at most: the first, two quick ones, one for each delay")
    func ladder() {
        #expect(decide(attempts: 1) == .quick(after: .zero))
        #expect(decide(attempts: 2) == .quick(after: .zero))
        #expect(decide(attempts: 3) == .delayed(by: .seconds(5)))
        #expect(decide(attempts: 4, first: false) == .delayed(by: .seconds(30)))
        #expect(decide(attempts: 5, first: false) == .delayed(by: .minutes(5)))
        #expect(decide(attempts: 6, first: false) == .delayed(by: .minutes(30)))
        #expect(decide(attempts: 7, first: false) == .delayed(by: .hours(2)))
        #expect(decide(attempts: 8, first: false) == .attemptsExhausted)
    }

    @Test(
        "gives each attempt from a delay topic the delay of its number, the first at least",
        arguments: [(1, 5_000), (2, 5_000), (3, 5_000), (4, 30_000), (7, 7_200_000)] as [(Int, Int64)])
    func fromDelayTopic(attempts: Int, wait: Int64) {
        #expect(decide(attempts: attempts, first: false) == .delayed(by: .milliseconds(wait)))
    }

    @Test("waits a random time below a doubling bound before quick retries")
    func jitter() {
        #expect(decide(attempts: 1, entropy: 200) == .quick(after: .milliseconds(200)))
        #expect(decide(attempts: 1, entropy: 201) == .quick(after: .zero))
        #expect(decide(attempts: 2, entropy: 400) == .quick(after: .milliseconds(400)))
        #expect(decide(attempts: 2, entropy: .max) != .quick(after: .milliseconds(401)))
    }

    @Test("lets Retry-After lengthen the next wait and skip quick retries")
    func retryAfter() {
        #expect(decide(attempts: 1, retryAfter: .zero) == .delayed(by: .seconds(5)))
        #expect(decide(attempts: 1, retryAfter: .seconds(7)) == .delayed(by: .seconds(7)))
        #expect(decide(attempts: 4, first: false, retryAfter: .seconds(1)) == .delayed(by: .seconds(30)))
    }

    @Test(
        "spreads the remaining calls over the remaining time when the next delay ends after the expiry",
        arguments: [
            (5, 300_001, 300_000), (5, 300_000, 75_000), (6, 225_000, 75_000), (7, 150_000, 75_000),
            (5, 264_000, 66_000),
            (5, 19_000, 5_000), (4, 5_001, 5_000), (4, 5_000, nil), (3, 5_000, nil), (7, 9_000, 5_000),
        ] as [(Int, Int64, Int64?)])
    func shorterDelay(attempts: Int, expiresIn: Int64, wait: Int64?) {
        let decision = decide(attempts: attempts, first: false, expiresIn: .milliseconds(expiresIn))
        #expect(decision == wait.map { .delayed(by: .milliseconds($0)) } ?? .expired)
    }

    @Test("a shorter wait counts as a call, and is never shorter than Retry-After")
    func shorterDelayBounds() {
        #expect(decide(attempts: 8, first: false, expiresIn: .seconds(100)) == .attemptsExhausted)
        #expect(
            decide(attempts: 5, first: false, retryAfter: .seconds(7), expiresIn: .seconds(20))
                == .delayed(by: .seconds(7)))
        #expect(decide(attempts: 5, first: false, retryAfter: .seconds(20), expiresIn: .seconds(20)) == .expired)
        #expect(decide(attempts: 1, expiresIn: .zero) == .expired)
    }

    @Test("ends an event whose next call would come after its expiry or after the longest time")
    func bounds() {
        #expect(decide(attempts: 3, expiresIn: .seconds(5)) == .expired)
        #expect(decide(attempts: 3, expiresIn: .milliseconds(5_001)) == .delayed(by: .seconds(5)))
        #expect(decide(attempts: 3, firstAt: .milliseconds(86_395_001)) == .timeExhausted)
        #expect(decide(attempts: 3, firstAt: .seconds(86_395)) == .delayed(by: .seconds(5)))
    }

    @Test("makes no quick retries while the worker drains")
    func drain() {
        #expect(decide(attempts: 1, quickAllowed: false) == .delayed(by: .seconds(5)))
    }

    @Test(
        "sends a wait to the longest delay that is not longer, and keeps waits below the shortest in memory",
        arguments: [
            (4_999, nil), (5_000, 0), (29_999, 0), (30_000, 1), (299_999, 1), (7_200_000, 4), (90_000_000, 4),
        ] as [(Int64, Int?)])
    func hops(wait: Int64, delay: Int?) {
        #expect(policy.hop(for: .milliseconds(wait)) == delay)
    }
}

@Suite("Retry-After")
struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    let moment = WallTime(milliseconds: 784_111_777_000)

    @Test(
        "is read as seconds or as a date in any of HTTP's three formats, and otherwise ignored",
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
        #expect(RetryAfter.wait(field, now: moment, limit: .hours(2)) == wait.map { .milliseconds($0) })
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

    @Test("prefers the settings to the defaults")
    func overrides() {
        let table = StatusTable(overrides: [403: .rejected, 404: .transient])
        #expect(table[403] == .rejected)
        #expect(table[404] == .transient)
        #expect(table[401] == .credentials)
    }

    @Test("Only an unanswered call whose request was written may have arrived")
    func mayHaveArrived() {
        let doubtful = CallFailure.allCases.filter { failure in
            AttemptEntry(
                at: WallTime(milliseconds: 0), pushService: "apns", error: failure.word, duration: .milliseconds(1)
            ).mayHaveArrived
        }
        #expect(doubtful == [.reset, .timeout, .brokenHTTP])
    }
}
