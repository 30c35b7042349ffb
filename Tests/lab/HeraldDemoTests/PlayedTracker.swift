import HeraldEvents
import HeraldTime

@testable import HeraldDemo
@testable import HeraldSandbox

/// A tracker with the expected facts of its events' scenes, and a test's additions.
struct PlayedTracker {
    var tracker = DemoTracker()
    private var callNumber = 0

    /// The origin of the event with this number.
    static func origin(_ number: Int) -> Origin { Origin(topic: "notifications", partition: 0, offset: Int64(number)) }

    /// Publishes the scenes, and plays all of them except the numbers in `except`.
    init(_ scenes: [DemoScene] = DemoScript.scenes, except: Set<Int> = []) throws {
        for (number, scene) in scenes.enumerated() {
            let event = DemoEvent(scene, number: number, now: WallTime(milliseconds: 1_800_000_000_000))
            tracker.published(event)
            tracker.placed(number, at: Self.origin(number))
            if !except.contains(number) { try settle(event) }
        }
    }

    private mutating func settle(_ event: DemoEvent) throws {
        for expected in event.scene.expected {
            if let pushService = expected.pushService {
                if expected.waits { retry(event.number, pushService, attempts: expected.calls - 1) }
                for _ in 0..<expected.calls { call(event.number, pushService, status: expected.status) }
            }
            try result(event.number, expected)
            if expected.outcome.hasDeadLetter { try deadLetter(event) }
        }
    }

    mutating func call(_ number: Int, _ pushService: String, status: Int? = 200) {
        call(key: "demo-\(number):ada:\(pushService)", status: status)
    }

    mutating func call(key: String?, status: Int? = 200) {
        callNumber += 1
        tracker.add([
            RecordedCall(
                number: callNumber, receivedAt: WallTime(milliseconds: 0), idempotencyKey: key, pns: nil, user: nil,
                caller: nil, traceparent: nil, status: status)
        ])
    }

    mutating func retry(_ number: Int, _ pushService: String, attempts: Int, due: Int64 = 0) {
        let note = RetryNote(
            delay: "3s", pushServices: [pushService], attempts: attempts, dueAt: WallTime(milliseconds: due),
            reason: .transient, status: 503)
        tracker.add(.retry(note), origin: Self.origin(number))
    }

    mutating func result(_ number: Int, _ outcome: ExpectedOutcome) throws {
        var members = [#""outcome":"\#(outcome.outcome.rawValue)""#, #""attempts":\#(outcome.calls)"#]
        if let pushService = outcome.pushService { members.append(#""pns":"\#(pushService)""#) }
        if let suppression = outcome.suppression { members.append(#""reason":"\#(suppression.rawValue)""#) }
        if let reason = outcome.reason { members.append(#""reason":"\#(reason.rawValue)""#) }
        if let status = outcome.status { members.append(#""status":\#(status)"#) }
        members.append(#""completedAt":"2026-11-21T08:40:26.123Z""#)
        members.append(#""origin":{"topic":"notifications","partition":0,"offset":\#(number)}"#)
        let result = try NotificationResult(decoding: Array("{\(members.joined(separator: ","))}".utf8))
        tracker.add(.result(result), origin: result.origin)
    }

    mutating func deadLetter(_ event: DemoEvent, value: [UInt8]? = nil) throws {
        var headers = HeaderList()
        headers.append("herald-origin", "\(Self.origin(event.number))")
        headers.append("herald-reason", "rejected")
        headers.append("herald-dead-lettered-at", "1800000000000")
        let letter = try DeadLetter(key: nil, value: value ?? event.value, headers: headers)
        tracker.add(.deadLetter(letter), origin: letter.origin)
    }
}
