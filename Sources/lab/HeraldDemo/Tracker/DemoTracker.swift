import HeraldEvents
import HeraldSandbox

/// All facts about the published events, as a value: records read from Herald's topics, and calls the backend received.
struct DemoTracker {
    /// A record in one of Herald's topics that stems from a request record.
    enum Fact {
        case result(NotificationResult)
        case deadLetter(DeadLetter)
        case retry(RetryNote)
    }

    private(set) var entries: [TrackedEvent] = []
    /// Calls that belong to no event and push service of the stream.
    private(set) var strayCallCount = 0
    private var numbers: [Origin: Int] = [:]
    /// Facts about request records not read yet, because topics are read in parallel.
    private var unplaced: [Origin: [Fact]] = [:]
    private var lastCallNumber = 0

    /// Notes that an event is on its way to the broker.
    mutating func published(_ event: DemoEvent) {
        precondition(event.number == entries.count, "events are numbered in their order")
        entries.append(TrackedEvent(event: event))
    }

    mutating func placed(_ number: Int, at origin: Origin) {
        guard entries.indices.contains(number) else { return }
        numbers[origin] = number
        for fact in unplaced.removeValue(forKey: origin) ?? [] { entries[number].add(fact) }
    }

    mutating func add(_ fact: Fact, origin: Origin) {
        if let number = numbers[origin] {
            entries[number].add(fact)
        } else {
            unplaced[origin, default: []].append(fact)
        }
    }

    /// Adds the backend's calls and skips those added before.
    mutating func add(_ calls: [RecordedCall]) {
        for call in calls where call.number > lastCallNumber {
            lastCallNumber = call.number
            guard let key = call.idempotencyKey.flatMap(DemoEvent.parse(idempotencyKey:)),
                entries.indices.contains(key.number), entries[key.number].add(call, pushService: key.pushService)
            else {
                strayCallCount += 1
                continue
            }
        }
    }

    var strayFactCount: Int { unplaced.values.reduce(0) { $0 + $1.count } }

    /// Whether every published event has all its outcomes.
    var isSettled: Bool { entries.allSatisfy(\.isSettled) }

    var results: [NotificationResult] { entries.flatMap(\.results) }

    var openCount: Int { entries.reduce(0) { $0 + $1.openCount } }
}
