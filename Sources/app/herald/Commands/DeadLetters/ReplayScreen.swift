import HeraldCommandLine
import HeraldEvents
import HeraldReplay
import HeraldText
import HeraldTime
import HeraldTools

/// What people see while a job on dead letters is at work: a line that changes on a terminal, and what it waits for now and
/// then elsewhere.
final class ReplayScreen {
    /// How far it is in words; `nil` of a job that only marks.
    private let output: ReplayOutput?
    private var line: ProgressLine
    private var meter = ThroughputMeter()
    private var batch = 0
    /// What was said of the job's beginning.
    private var told: JobWaitReason.Kind?

    init(_ console: Console, _ output: ReplayOutput? = nil) {
        self.output = output
        line = ProgressLine(console)
    }

    func clear() { line.clear() }

    func show(_ job: ReplayMachine, now: Moment) {
        let (progress, waits) = (job.progress, job.waiting(now: now))
        guard progress.batch > 0, let output else { return showBeginning(job.job, waits) }
        if progress.batch != batch {
            batch = progress.batch
            // A last one may have found no letter left.
            if progress.replayed < progress.planned { line.remark(output.batchLine(progress)) }
        }
        meter.note(Int64(progress.replayed))
        line.show(
            share: Int64(progress.replayed), of: Int64(progress.planned),
            output.progressLine(progress, waits, meter))
        line.note(output.progressLine(progress, waits, meter))
    }

    /// Before the lease is its own only another job's, and a broker that does not answer, are worth a line.
    private func showBeginning(_ job: String, _ waits: JobWaitReason?) {
        guard let waits, waits.kind != told, waits.kind == .otherJob || waits.kind == .broker
        else { return }
        told = waits.kind
        line.remark(SafeText.escaped("Job \(job) \(waits.phrase)."))
    }
}
