import HeraldEvents
import HeraldSandbox

struct DemoCheck {
    /// The differences, one line each; empty when everything is right.
    private(set) var differences: [String] = []
    /// The push services that the backend throttles: other events' calls to them may have to wait too.
    private let paused: Set<String>

    /// Compares the results topic, the dead letters, the retries and the backend's calls with each event's scene.
    ///
    /// - Parameter isWhole: whether every event must have its outcomes; otherwise events without them are skipped.
    init(_ tracker: DemoTracker, isWhole: Bool) {
        let scenes = tracker.entries.map(\.event.scene)
        paused = Set(scenes.filter { $0.rules.contains { $0.retryAfter != nil } }.flatMap(\.pushServices))
        for entry in tracker.entries where isWhole || entry.isSettled { compare(entry) }
        if tracker.strayCallCount > 0 { differences.append("\(tracker.strayCallCount) calls belong to no event") }
        if tracker.strayFactCount > 0 { differences.append("\(tracker.strayFactCount) records belong to no event") }
    }

    private mutating func compare(_ entry: TrackedEvent) {
        let name = "event \(entry.event.number) (\(entry.event.scene.user))"
        let expected = entry.event.scene.expected
        for outcome in expected {
            let place = "\(name), \(outcome.pushService ?? "no push service")"
            let results = entry.results.filter { $0.pushService == outcome.pushService }
            if results.count != 1 { differences.append("\(place): \(results.count) results instead of 1") }
            for result in results {
                let found = ExpectedOutcome(result, waits: outcome.waits)
                if found != outcome {
                    differences.append("\(place): the result is \(found.words) instead of \(outcome.words)")
                }
            }
            guard let pushService = outcome.pushService else { continue }
            let calls = entry.callCount(pushService)
            if calls != outcome.calls {
                differences.append("\(place): the backend saw \(calls) calls instead of \(outcome.calls)")
            }
            let hasWaited = entry.retries[pushService] != nil
            if outcome.waits != hasWaited, !hasWaited || !paused.contains(pushService) {
                differences.append("\(place): it \(outcome.waits ? "did not wait" : "waited") in a retry topic")
            }
        }
        for result in entry.results where !expected.contains(where: { $0.pushService == result.pushService }) {
            differences.append("\(name): a result that must not be, for \(result.pushService ?? "no push service")")
        }
        compareDeadLetters(of: entry, name, expected: expected.count(where: \.outcome.hasDeadLetter))
        if expected.contains(where: { $0.pushService == nil }), !entry.calls.isEmpty {
            differences.append("\(name): the backend was called for what does not decode")
        }
    }

    private mutating func compareDeadLetters(of entry: TrackedEvent, _ name: String, expected: Int) {
        if entry.deadLetters.count != expected {
            differences.append("\(name): \(entry.deadLetters.count) dead letters instead of \(expected)")
        }
        if entry.deadLetters.contains(where: { $0.value != entry.event.value }) {
            differences.append("\(name): its dead letter does not hold the bytes that were published")
        }
    }
}

extension ExpectedOutcome {
    /// A result's facts; results do not record waits.
    init(_ result: NotificationResult, waits: Bool) {
        self.init(
            pushService: result.pushService, outcome: result.outcome, reason: result.reason,
            suppression: result.suppression, status: result.status, calls: result.attempts ?? 0, waits: waits)
    }

    var words: String {
        let status = status.map { " with status \($0)" } ?? ""
        let reason = (reason?.rawValue ?? suppression?.rawValue).map { " (\($0))" } ?? ""
        return outcome.rawValue + reason + status + " after \(calls) calls"
    }
}
