package import HeraldEvents
internal import HeraldTime

/// How a job on dead letters stands in one of its turns, for those who asked for it.
///
/// What is not asked for is not found. To be let go when the turn is over: the machine goes on with what it holds.
package struct ReplayStanding {
    private let machine: ReplayMachine
    private let now: Moment

    init(_ machine: ReplayMachine, now: Moment) {
        self.machine = machine
        self.now = now
    }

    /// The job's name.
    package var job: String { machine.job }

    /// How far it is; its batch is 0 before the lease is its own.
    package var progress: ReplayProgress { machine.progress }

    /// Why it does not go on; `nil` when it has ended.
    package var waits: JobWaitReason? { machine.waiting(now: now) }

    /// Why a letter is not replayed or marked yet; `nil` when it is, or does not belong to the job.
    package func waits(forPartition partition: Int32, offset: Int64) -> JobWaitReason? {
        machine.waiting(forPartition: partition, offset: offset, now: now)
    }
}
