import HeraldEvents

/// The number of outcomes of each kind, actual and expected.
struct OutcomeCounts {
    struct Kind: Hashable {
        var outcome: Outcome
        var reason: DeadLetterReason?
        var suppression: SuppressionReason?
        var pushService: String?
        var status: Int?
    }

    struct Row: Equatable {
        var kind: Kind
        var count = 0
        var expected = 0
    }

    /// One row for each kind, by outcome, reason, push service and status.
    let rows: [Row]

    init(_ tracker: DemoTracker) {
        var rows: [Kind: Row] = [:]
        for result in tracker.results {
            let kind = Kind(
                outcome: result.outcome, reason: result.reason, suppression: result.suppression,
                pushService: result.pushService, status: result.status)
            rows[kind, default: Row(kind: kind)].count += 1
        }
        for expected in tracker.entries.flatMap(\.event.scene.expected) {
            let kind = Kind(
                outcome: expected.outcome, reason: expected.reason, suppression: expected.suppression,
                pushService: expected.pushService, status: expected.status)
            rows[kind, default: Row(kind: kind)].expected += 1
        }
        self.rows = rows.values.sorted { $0.kind.order < $1.kind.order }
    }
}

extension OutcomeCounts.Kind {
    /// The sort key of rows: the contract's order of outcomes and reasons, then the push service.
    fileprivate var order: (Int, Int, String, Int) {
        (
            Outcome.allCases.firstIndex(of: outcome) ?? 0,
            reason.flatMap { DeadLetterReason.allCases.firstIndex(of: $0) } ?? -1, pushService ?? "", status ?? 0
        )
    }
}
