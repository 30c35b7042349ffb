import HeraldThreads

/// Where a lane leaves its reports for other threads.
///
/// The lane never waits: while another thread reads, it leaves the report at its next turn.
final class LaneSnapshot: Sendable {
    private let report: Guarded<LaneReport>

    init(_ report: LaneReport) {
        self.report = Guarded(report)
    }

    /// Replaces the report, unless another thread reads it at this moment; whether it did.
    func leave(_ report: LaneReport) -> Bool {
        self.report.withLockIfFree { $0 = report } != nil
    }

    /// Replaces the report.
    func leaveLast(_ report: LaneReport) {
        self.report.withLock { $0 = report }
    }

    /// The newest report.
    var latest: LaneReport { report.withLock { $0 } }
}
