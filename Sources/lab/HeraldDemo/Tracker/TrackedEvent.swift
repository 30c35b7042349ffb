import HeraldEvents
import HeraldSandbox

/// One published event and its facts.
struct TrackedEvent {
    /// The backend's calls for one push service.
    struct Calls {
        var count = 0
        /// The last answer; nil when there was none.
        var lastStatus: Int?
    }

    let event: DemoEvent
    private(set) var results: [NotificationResult] = []
    private(set) var deadLetters: [DeadLetter] = []
    private(set) var calls: [String: Calls] = [:]
    private(set) var retries: [String: RetryNote] = [:]

    mutating func add(_ fact: DemoTracker.Fact) {
        switch fact {
        case .result(let result): results.append(result)
        case .deadLetter(let letter): deadLetters.append(letter)
        case .retry(let note):
            for pushService in note.pushServices { retries[pushService] = note }
        }
    }

    /// Adds a call; returns false when the event does not name the push service.
    mutating func add(_ call: RecordedCall, pushService: String) -> Bool {
        guard event.scene.pushServices.contains(pushService) else { return false }
        calls[pushService, default: Calls()].count += 1
        calls[pushService]?.lastStatus = call.status
        return true
    }

    var isSettled: Bool { openCount == 0 }

    /// The number of missing outcomes; a result without a push service settles the whole event.
    var openCount: Int {
        if results.contains(where: { $0.pushService == nil }) { return 0 }
        let done = Set(results.map(\.pushService))
        return max(event.scene.pushServices.count { !done.contains($0) }, done.isEmpty ? 1 : 0)
    }

    /// The state of the event for one of its push services.
    func state(_ pushService: String) -> DeliveryState {
        if let result = results.last(where: { $0.pushService == pushService || $0.pushService == nil }) {
            return .settled(result)
        }
        let calls = self.calls[pushService]
        if let retry = retries[pushService], retry.attempts >= calls?.count ?? 0 { return .waiting(retry) }
        guard let calls else { return .published }
        return .called(lastStatus: calls.lastStatus)
    }

    /// The state of an event that names no push service.
    var state: DeliveryState { results.last.map { .settled($0) } ?? .published }

    /// The number of calls the backend received for one of the push services.
    func callCount(_ pushService: String) -> Int { calls[pushService]?.count ?? 0 }
}

/// The state of an event for one push service.
enum DeliveryState: Equatable {
    /// In its request topic, or on its way there.
    case published
    /// The backend was called and gave this last answer; no outcome is recorded yet.
    case called(lastStatus: Int?)
    case waiting(RetryNote)
    case settled(NotificationResult)
}
