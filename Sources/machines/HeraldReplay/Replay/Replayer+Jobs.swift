internal import HeraldDriver
package import HeraldTime
package import HeraldTools

extension Replayer {
    /// Carries a plan out: blocks until it is done, or something ends it.
    ///
    /// - Parameters:
    ///   - state: has read the marks for the plan.
    ///   - pause: who has it publish nothing for now; the lease is kept, and outcomes are counted.
    ///   - onTurn: called often, and at the beginning of each batch.
    /// - Throws: a ``ToolFailure`` when it can't begin: another job is at work, for instance.
    package func replay(
        _ plan: ReplayPlan, _ rules: ReplayRules, _ options: ReplayOptions, state: StateReader,
        isStopping: @escaping () -> Bool, pause: @escaping () -> ReplayPause? = { nil },
        onTurn: @escaping (ReplayMachine, Moment) -> Void
    ) throws -> ReplayReport {
        try run(
            .replay(plan, rules, options), state,
            ReplayClients.Owner(isStopping: isStopping, pause: pause, onTurn: onTurn))
    }

    /// Marks what was planned as dealt with in another way, under the same lease as replays.
    ///
    /// - Returns: the job, how many are marked, and why not all.
    /// - Throws: a ``ToolFailure`` when it can't begin.
    package func resolve(
        _ plan: ResolvePlan, selection: String, note: String?, state: StateReader,
        onTurn: @escaping (ReplayMachine, Moment) -> Void
    ) throws -> (job: String, count: Int, failure: ToolFailure?) {
        let report = try run(
            .resolve(plan, selection: selection, note: note), state, ReplayClients.Owner(onTurn: onTurn))
        var failure: ToolFailure?
        switch report.end {
        case .complete, .interrupted, .detached, .failing, .outcomeTimeout, .cancelled, .expired: break
        case .takenOver: failure = ToolFailure("another job has taken over; what was done is marked")
        case .failed(let cause): failure = cause
        }
        return (report.job, report.progress.replayed, failure)
    }

    private func run(
        _ order: LetterPublication.Order, _ state: StateReader, _ owner: ReplayClients.Owner
    ) throws -> ReplayReport {
        var isPublishing = false
        if case .replay = order { isPublishing = true }
        let clients = try ReplayClients(self, isPublishing: isPublishing, state: state, owner: owner)
        defer { clients.close() }
        let driver = JobDriver(
            ReplayMachine(
                LetterPublication(order, context, job: Self.newJobName(order.kind), process: .current),
                writer: BatchWriter.Configuration(context.writerProperties)), io: clients)
        driver.run()
        let machine = driver.machine
        switch machine.end {
        case .failed(let failure) where !machine.hasBegun: throw failure
        case let end?:
            // The outcomes that ended it are told, too.
            owner.onTurn(machine, clients.now)
            return ReplayReport(job: machine.job, end: end, progress: machine.progress)
        case nil: preconditionFailure("a driver runs its machine to the end")
        }
    }

    /// No other job has it; short enough for the start of an idempotency key.
    private static func newJobName(_ kind: String) -> String {
        let number = UInt64.random(in: .min ... .max)
        let digits = String(number, radix: 36)
        return kind + "-" + String(repeating: "0", count: 13 - digits.count) + digits
    }
}
