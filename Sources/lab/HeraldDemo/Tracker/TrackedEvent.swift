import HeraldEvents
import HeraldSandbox

/// One published event and what is known of it.
struct TrackedEvent {
    /// What the backend saw for one push service.
    struct Calls {
        var count = 0
        /// The last answer; absent when it gave none.
        var lastStatus: Int?
    }

    let event: DemoEvent
    private(set) var results: [NotificationResult] = []
    private(set) var deadLetters: [DeadLetter] = []
    private(set) var calls: [String: Calls] = [:]
    private(set) var retries: [String: RetryNote] = [:]

    init(_ event: DemoEvent) {
        self.event = event
    }

    mutating func add(_ fact: DemoTracker.Fact) {
        switch fact {
        case .result(let result): results.append(result)
        case .deadLetter(let letter): deadLetters.append(letter)
        case .retry(let note):
            for pushService in note.pushServices { retries[pushService] = note }
        }
    }

    /// A call; false when the event does not name the push service.
    mutating func add(_ call: RecordedCall, pushService: String) -> Bool {
        guard event.scene.pushServices.contains(pushService) else { return false }
        calls[pushService, default: Calls()].count += 1
        calls[pushService]?.lastStatus = call.status
        return true
    }

    var isSettled: Bool { openCount == 0 }

    /// Outcomes that have not come yet; a result without a push service is the outcome of the whole event.
    var openCount: Int {
        if results.contains(where: { $0.pushService == nil }) { return 0 }
        let done = Set(results.map(\.pushService))
        return max(event.scene.pushServices.count { !done.contains($0) }, done.isEmpty ? 1 : 0)
    }

    /// Where the event is for one of its push services.
    func state(_ pushService: String) -> DeliveryState {
        if let result = results.last(where: { $0.pushService == pushService || $0.pushService == nil }) {
            return .settled(result)
        }
        let calls = self.calls[pushService]
        if let retry = retries[pushService], retry.attempts >= calls?.count ?? 0 { return .waiting(retry) }
        guard let calls else { return .published }
        return .called(lastStatus: calls.lastStatus)
    }

    /// Where the event is that names no push service.
    var state: DeliveryState { results.last.map { .settled($0) } ?? .published }

    /// Calls for one of the push services that the backend saw.
    func callCount(_ pushService: String) -> Int { calls[pushService]?.count ?? 0 }
}

/// Where an event is for one push service.
enum DeliveryState: Equatable {
    /// In its request topic, or on its way there.
    case published
    /// The backend was called, with this answer to the last call; no outcome is recorded yet.
    case called(lastStatus: Int?)
    case waiting(RetryNote)
    case settled(NotificationResult)
}
