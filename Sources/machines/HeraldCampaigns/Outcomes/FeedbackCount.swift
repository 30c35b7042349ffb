package import HeraldEvents

/// What became of a campaign's notifications behind a notification hub: pure, fed with feedback.
///
/// A notification is an event for one push service, as in ``OutcomeCount``; each is counted in one way.
package struct FeedbackCount: Equatable, Sendable {
    /// Those that a push service took for at least one device.
    package private(set) var reached = 0
    /// Those whose user has no device there.
    package private(set) var nobody = 0
    /// Those that no push service took, although there was a device.
    package private(set) var refused = 0
    /// Those of which the hub did not say in time what became of them.
    package private(set) var untold = 0
    /// The devices by the hub's outcome, `Success` among them.
    package private(set) var devices: [String: Int] = [:]

    /// Other programs may write into the topic, too.
    private static let mostOutcomes = 100

    package init() {}

    /// Notifications of which it is known, or will never be.
    package var known: Int { reached + nobody + refused + untold }

    /// Notifications that the backend has taken, so many, and of which the feedback is still to come.
    package func open(of taken: Int) -> Int { max(0, taken - known) }

    /// Takes feedback on a notification of the campaign.
    package mutating func add(_ feedback: NotificationFeedback) {
        for (name, count) in feedback.outcomes where devices[name] != nil || devices.count < Self.mostOutcomes {
            devices[name, default: 0] += count
        }
        let isForNobody = feedback.outcomes.allSatisfy { $0.key == NotificationFeedback.noTargets || $0.value == 0 }
        if feedback.reached > 0 {
            reached += 1
        } else if feedback.conclusion != .final {
            untold += 1
        } else if isForNobody, feedback.state != Self.abandoned {
            nobody += 1
        } else {
            refused += 1
        }
    }

    /// The state of a message that the hub gave up: no push service was asked whether there is a device.
    private static let abandoned = "Abandoned"

    /// Its parts, each with its count: without those that are 0.
    ///
    /// - Parameter taken: notifications that the backend has taken.
    package func parts(taken: Int) -> [(name: String, count: Int)] {
        [
            ("reached a push service", reached), ("nobody to reach", nobody),
            ("refused by push services or the hub", refused), ("not told by the hub", untold),
            ("not known yet", open(of: taken)),
        ].filter { $0.1 > 0 || $0.0 == "reached a push service" }
    }
}
