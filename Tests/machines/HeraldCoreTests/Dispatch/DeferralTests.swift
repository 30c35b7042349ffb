import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Deferred calls")
struct DeferralTests {
    /// Calls a second; all numbers are so small that a day takes seconds even in a debug build.
    private static let rate = 0.08

    /// A push service limited to a call in twelve seconds, with hours of backlog, beside unlimited ones.
    private static func world() -> BacklogWorld {
        let backend: BacklogWorld.Backend = { _, _ in CallResult(status: 200, duration: .milliseconds(20)) }
        return BacklogWorld(poll: 10_000, backend: backend) {
            $0.maxInFlight = 40
            $0.serviceCallsPerSecond = [rate, nil, nil]
        }
    }

    @Test("return in time from a limit used up for 12 hours, through delay topics, a restart, other limits")
    func hours() {
        var world = Self.world()
        let minute: Int64 = 60_000
        // 2.25 hours' backlog, and later the same again.
        var limit = Self.rate
        world.publish(1, to: "gcm")
        for half in 0..<24 {
            switch half {
            case 0: world.publish(648)
            case 5: world.publish(648)
            case 10:
                world.publish(1_000)
                world.restart()
            case 13:
                limit = 1.5 * Self.rate
                world.restart { $0.serviceCallsPerSecond = [1.5 * Self.rate, nil, nil] }
            case 18:
                limit = 0.5 * Self.rate
                world.publish(325)
                world.restart { $0.serviceCallsPerSecond = [0.5 * Self.rate, nil, nil] }
            default: break
            }
            let before = world.deliveredTo["apns", default: 0]
            let hasBacklog = world.backlog > Int(limit * 1_900)
            for _ in 0..<6 {
                world.publish(1, to: "gcm")
                world.run(for: 5 * minute)
            }
            let delivered = world.deliveredTo["apns", default: 0] - before
            let isLow = hasBacklog && Double(delivered) < 0.95 * limit * 1_800
            #expect(!isLow, "\(delivered) in half hour \(half)")
        }
        let (throttled, calls) = (world.throttled, world.calls)
        #expect(throttled < 30 * calls, "\(throttled) hops for \(calls) calls")
    }
}
