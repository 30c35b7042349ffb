import HeraldEvents
import HeraldTime
import TestSupport
import Testing

@testable import HeraldCore

@Suite("A hub that takes a hundred sends a minute")
struct HubLimitTests {
    /// The way in which the hub counts, and its answer to a send beyond the limit.
    struct Hub: Sendable, CustomTestStringConvertible {
        enum Counting: Sendable {
            /// The sends of a minute that begins with the first.
            case window
            /// The sends of the last minute.
            case sliding
            /// A bucket that holds a hundred and fills evenly.
            case bucket
        }

        var counting = Counting.window
        var status = 429
        var saysHowLong = true

        var testDescription: String { "\(counting), \(status)\(saysHowLong ? " with Retry-After" : "")" }
    }

    private static let limit = 100

    /// The hub's own accounts.
    private final class Books {
        let hub: Hub
        var taken: [Int64] = []
        var windowStart = Int64.min / 2
        var count = 0
        var level = Double(HubLimitTests.limit)
        var filledAt: Int64?

        init(_ hub: Hub) { self.hub = hub }

        /// The time until a send is taken (milliseconds); `nil` when it is taken now.
        func wait(_ time: Int64) -> Int64? {
            switch hub.counting {
            case .window:
                if time - windowStart >= 60_000 { (windowStart, count) = (time, 0) }
                guard count < limit else { return 60_000 - (time - windowStart) }
                count += 1
            case .sliding:
                taken.removeAll { $0 <= time - 60_000 }
                guard taken.count < limit else { return (taken.first ?? time) + 60_000 - time }
                taken.append(time)
            case .bucket:
                level = min(Double(limit), level + Double(time - (filledAt ?? time)) * Double(limit) / 60_000)
                filledAt = time
                guard level >= 1 else { return 600 }
                level -= 1
            }
            return nil
        }

        func answer(_ time: Int64) -> CallResult {
            guard let wait = wait(time) else { return CallResult(status: 201) }
            let seconds = (wait + 999) / 1_000 * 1_000
            return CallResult(
                status: hub.status, retryAfter: hub.saysHowLong ? .milliseconds(seconds) : nil,
                read: hub.status == 403 ? .throttled : nil)
        }
    }

    @Test(
        "is used to at least 95 %, without a dead letter",
        arguments: [
            (Hub(), 0.95), (Hub(status: 403), 0.95), (Hub(counting: .bucket, status: 403), 0.95),
            // A hub that counts the whole last minute punishes every burst after a pause.
            (Hub(counting: .sliding), 0.9),
        ])
    func used(hub: Hub, share: Double) async throws {
        let (used, dead) = try await Blocking.run {
            let books = Books(hub)
            let minutes = 30
            var world = BacklogWorld { _, time in books.answer(time) }
            world.publish(Self.limit * minutes * 3 / 2)
            world.run(for: Int64(minutes) * 60_000)
            return (Double(world.delivered) / Double(Self.limit * minutes), world.dead)
        }
        #expect(used >= share)
        #expect(dead == 0)
    }

    @Test(
        "is used up and delays no other push service, even behind a backlog of an hour",
        arguments: [
            (Hub(), 0.95), (Hub(counting: .bucket, status: 403), 0.95), (Hub(counting: .sliding), 0.85),
        ])
    func others(hub: Hub, share: Double) async throws {
        let minutes = 12
        let (used, dead, others) = try await Blocking.run {
            let books = Books(hub)
            let waiting = 1...6_000
            var world = BacklogWorld { event, time in
                waiting.contains(event) ? books.answer(time) : CallResult(status: 201)
            }
            world.publish(1, to: "gcm")
            world.publish(waiting.count)
            var others: [Int] = []
            for _ in 1...minutes {
                world.run(for: 60_000)
                others.append(world.deliveredTo["gcm", default: 0])
                world.publish(10, to: "gcm")
            }
            let used = Double(world.deliveredTo["apns", default: 0]) / Double(Self.limit * minutes)
            return (used, world.dead, others)
        }
        #expect(used >= share)
        #expect(dead == 0)
        // The events of the last minute have had no time yet.
        let isLate = others.indices.contains { others[$0] < 10 * $0 + 1 }
        #expect(!isLate, "another push service waits: \(others)")
    }
}
