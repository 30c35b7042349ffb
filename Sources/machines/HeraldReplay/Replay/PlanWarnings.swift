internal import HeraldEvents

/// What speaks against a plan as it stands: pure.
package struct PlanWarnings {
    /// Each a sentence.
    package let sentences: [String]

    /// - Parameters:
    ///   - isCorrected: whether what is replayed is said otherwise than it was.
    ///   - deadServices: the push services of which every call fails now.
    package init(_ plan: ReplayPlan, isCorrected: Bool, deadServices: [String]) {
        var sentences: [String] = []
        let hopeless = [DeadLetterReason.malformed, .invalid].reduce(0) { $0 + (plan.reasons[$1] ?? 0) }
        if hopeless > 0, !isCorrected {
            let which = hopeless == plan.count ? (plan.count == 1 ? "This one" : "These") : "\(hopeless) of them"
            sentences.append(
                "\(which) cannot succeed unchanged: the events themselves are wrong (malformed or invalid). "
                    + "Correct them in this plan, or have their producer send them again and resolve these.")
        }
        if let (count, id) = plan.repeated {
            sentences.append(
                "\(count) of them \(count == 1 ? "repeats" : "repeat") the id of another, such as \(id): each is called, so "
                    + "who got one is notified again.")
        }
        if plan.tombstones > 0 {
            sentences.append(
                "\(plan.tombstones) of them \(plan.tombstones == 1 ? "has" : "have") no value: what is published is a "
                    + "tombstone, which removes its key from a compacted topic.")
        }
        for service in deadServices where (plan.pushServices[service] ?? 0) > 0 {
            sentences.append(
                "\(service) fails 100 % right now: what is replayed to it becomes a dead letter again. "
                    + "Wait until it delivers, or leave it out.")
        }
        self.sentences = sentences
    }
}
