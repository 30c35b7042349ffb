import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Calls that are put off")
struct DeferralTests {
    /// A push service that may be called twice a second, with hours of backlog, while the others go on.
    private static func world() -> BacklogWorld {
        BacklogWorld(backend: { _, _ in CallResult(status: 200, durationMilliseconds: 20) }) {
            $0.maxInFlight = 100
            $0.serviceCallsPerSecond = [2, nil, nil]
        }
    }

    @Test("come back in time: a limit is used up for 24 hours, through the delay topics, a restart and other limits")
    func hours() {
        var world = Self.world()
        let hour: Int64 = 3_600_000
        // 4.5 hours' backlog, and later as much again.
        var limit = 2.0
        world.publish(1, to: "gcm")
        for half in 0..<48 {
            switch half {
            case 0: world.publish(32_400)
            case 10: world.publish(32_400)
            case 20:
                world.publish(50_000)
                world.restart()
            case 26:
                limit = 3
                world.restart { $0.serviceCallsPerSecond = [3, nil, nil] }
            case 36:
                limit = 1
                world.restart { $0.serviceCallsPerSecond = [1, nil, nil] }
            default: break
            }
            let before = world.delivered
            let hasBacklog = world.backlog > Int(limit * 1_900)
            for _ in 0..<60 {
                world.publish(1, to: "gcm")
                world.run(for: hour / 120)
            }
            let delivered = world.delivered - before - 60
            let isLow = hasBacklog && Double(delivered) < 0.95 * limit * 1_800
            #expect(!isLow, "\(delivered) in half hour \(half)")
        }
        let (throttled, calls) = (world.throttled, world.calls)
        #expect(throttled < 30 * calls, "\(throttled) hops for \(calls) calls")
    }
}
