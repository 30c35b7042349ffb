import Dispatch
import Glibc
import Simulation
import Synchronization

/// Many runs on all processors, until the limit or the first violation.
final class Campaign: Sendable {
    enum Limit {
        case duration(Duration)
        /// Inputs of engines.
        case steps(Int)
    }

    struct Outcome {
        var summary: String
        /// What broke, and how to see it again.
        var failure: String?
    }

    private struct State {
        var runs = 0
        var steps = 0
        var virtualSeconds = 0
        var nextKnown: UInt64 = 1
        var failure: String?
    }

    /// Every so many seeds promise 7 is looked at, too.
    private static let localityInterval: UInt64 = 4

    private let limit: Limit
    /// So many steps come from the seeds 1, 2, 3 and so on.
    private let known: Int
    private let began = ContinuousClock.now
    private let state = Mutex(State())
    private let jobs = sysconf(Int32(_SC_NPROCESSORS_ONLN))

    init(limit: Limit, known: Int) {
        self.limit = limit
        self.known = known
    }

    func run() -> Outcome {
        CrashReport.install(jobs: jobs)
        DispatchQueue.concurrentPerform(iterations: Bystanders.all.count) { number in
            guard let violation = Bystanders.all[number].violation() else { return }
            state.withLock { $0.failure = $0.failure ?? "BYSTANDERS: \(violation)" }
        }
        DispatchQueue.concurrentPerform(iterations: jobs) { job in
            while let seed = nextSeed() {
                CrashReport.note(seed, job: job)
                let simulation = Simulation(scenario: .any(seed: seed))
                var violations = simulation.run()
                note(violations, again: "SEED=\(seed)", simulation.inputs, simulation.virtualSeconds)
                guard seed % Self.localityInterval == 0 else { continue }
                var locality = Locality(seed: seed)
                violations = locality.run()
                note(violations, again: "LOCALITY=\(seed)", locality.inputs, locality.virtualSeconds)
            }
        }
        let took = ContinuousClock.now - began
        return state.withLock { state in
            Outcome(
                summary: "\(state.runs) runs, \(state.steps) steps of engines, \(state.virtualSeconds / 3600) hours of "
                    + "virtual time in \(took.components.seconds) s",
                failure: state.failure)
        }
    }

    /// The next run, or `nil` when it is enough.
    private func nextSeed() -> UInt64? {
        state.withLock { state in
            guard state.failure == nil else { return nil }
            switch limit {
            case .duration(let duration): if ContinuousClock.now - began >= duration { return nil }
            case .steps(let steps): if state.steps >= steps { return nil }
            }
            guard state.steps < known else { return UInt64.random(in: 1_000_000_000...UInt64.max) }
            defer { state.nextKnown += 1 }
            return state.nextKnown
        }
    }

    private func note(_ violations: [String], again: String, _ inputs: Int, _ virtualSeconds: Int) {
        state.withLock { state in
            state.runs += 1
            state.steps += inputs
            state.virtualSeconds += virtualSeconds
            guard !violations.isEmpty, state.failure == nil else { return }
            state.failure =
                "\(again): \(violations.prefix(5).joined(separator: "\n  "))\n"
                + "See it again, step by step: make simulate \(again)"
        }
    }
}
