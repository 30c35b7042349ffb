import HeraldHub
import HeraldTime

/// A hub's telemetry of the messages that it has taken.
struct SimulatedHub {
    private struct Message {
        var takenAt: Int64
        var isKnownAt: Int64
        /// The moment of its final state; a hub that loses its telemetry never reports it.
        var isFinalAt: Int64
        var state: String
        var outcomes: [String: Int]
    }

    /// The time after which it forgets a message, or gives it up.
    static let memory: Int64 = 30 * 60_000
    private static let states: [(String, [String: Int])] = [
        ("Completed", ["Success": 2]), ("Completed", ["BadChannel": 1]), ("NoTargetFound", [:]),
    ]

    private var messages: [Message] = []
    /// The number of devices that it has found to be expired.
    var goneDevices: Int { messages.count / 10 }

    /// Takes a message; returns its name.
    mutating func take(now: Int64, chance: inout Chance) -> String {
        let isKnownAt = now + chance.pick([0, 200, chance.between(0, 20_000)])
        let isLost = chance.happens(3_000)
        let (state, outcomes) = chance.pick(Self.states)
        messages.append(
            Message(
                takenAt: now, isKnownAt: isKnownAt,
                isFinalAt: isLost ? .max : isKnownAt + chance.pick([0, 500, chance.between(0, 60_000)]), state: state,
                outcomes: outcomes))
        return "m\(messages.count - 1)"
    }

    private func message(_ name: String) -> Message? {
        guard name.hasPrefix("m"), let index = Int(name.dropFirst()) else { return nil }
        return messages.indices.contains(index) ? messages[index] : nil
    }

    /// The answer about a message.
    func answer(_ name: String, now: Int64, chance: inout Chance) -> MessageAnswer {
        if chance.happens(30_000) {
            return .unavailable(reason: "busy", retryAfter: chance.pick([nil, nil, .seconds(1), .seconds(20)]))
        }
        guard let message = message(name), now >= message.isKnownAt, now < message.takenAt + 2 * Self.memory else {
            return .notKnown
        }
        guard now >= message.isFinalAt else {
            return .details(MessageDetails(state: MessageDetails.State("Processing"), outcomes: [:]))
        }
        return .details(MessageDetails(state: MessageDetails.State(message.state), outcomes: message.outcomes))
    }

    /// The reason for which this answer about a message is impossible, if so.
    ///
    /// - Parameter tolerance: the largest difference between the clocks that give the time of sending.
    func objection(
        to name: String, isFinal: Bool, state: String?, outcomes: [String: Int], now: Int64, tolerance: Int64
    ) -> String? {
        guard let message = message(name) else { return "the hub has no message \(name)" }
        guard isFinal else {
            let age = now - message.takenAt
            return age + tolerance >= Self.memory ? nil : "\(name) is given up when it is \(age) ms old"
        }
        guard now >= message.isFinalAt, state == message.state, outcomes == message.outcomes else {
            return "\(name) is said to be \(state ?? "without a state"), which the hub has not said"
        }
        return nil
    }
}
