internal import HeraldEvents
internal import HeraldText
internal import HeraldTime
package import HeraldTools

extension RecallScope {
    /// What a recall of an event finds: pure.
    ///
    /// - Parameters:
    ///   - found: what was read of its id and user.
    ///   - source: the event's; `nil` for one without.
    package init(_ found: TimelineSearch.Found, source: String?) {
        let meant = found.timelines.filter { $0.source == source }
        var sentences = meant.map(Self.sentence)
        if meant.isEmpty {
            sentences.append("It was not found. One that comes later ends as suppressed.")
        }
        let others = Set(found.timelines.map { $0.source ?? "" }).subtracting([source ?? ""])
        for other in others.sorted() {
            let its = other.isEmpty ? "no source" : "the source \(other)"
            sentences.append("Another event with this id and user has \(its), and is not recalled with this one.")
        }
        let missed = found.missed
        if !missed.isEmpty { sentences.append("Not read: \(missed.joined(separator: "; ")).") }
        let open = meant.flatMap(Self.open)
        let outcomes = meant.flatMap { event in event.outcomes.filter { !Self.open(event).contains($0.key) } }
        self.init(
            left: open.count, sentences: sentences,
            members: [
                .init("open", .array(open.map { .string($0) })),
                .init(
                    "outcomes",
                    .object(
                        outcomes.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value.outcome.rawValue)) })
                ),
                .init("isWhole", .bool(missed.isEmpty)),
            ])
    }

    private static func open(_ event: EventTimeline) -> [String] { event.isMalformed ? [] : event.open }

    /// Such as `order-17: apns has no outcome yet; gcm: delivered at 2026-11-21T08:40:26.000Z`.
    private static func sentence(_ event: EventTimeline) -> String {
        let open = open(event)
        var parts: [String] = []
        if !open.isEmpty {
            parts.append("\(open.joined(separator: ", ")) \(open.count == 1 ? "has" : "have") no outcome yet")
        }
        let ended = event.outcomes.filter { !open.contains($0.key) }
        for (name, result) in ended.sorted(by: { $0.key < $1.key }) {
            let replay = result.outcome.hasDeadLetter ? " (a replay ends as suppressed)" : ""
            parts.append("\(name): \(result.outcome.rawValue) at \(result.completedAt.text)\(replay)")
        }
        if event.isMalformed { parts.append("it was refused as a whole, and calls nobody") }
        let name = event.id ?? "\(event.origin)"
        return "\(name): \(parts.isEmpty ? "nothing is known of its push services" : parts.joined(separator: "; "))."
    }
}
