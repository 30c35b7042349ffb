import Dispatch
import Glibc
import Simulation
import Synchronization

/// A case that is run on its own, with the same result each time.
enum Case: CustomStringConvertible {
    case bystanders(Int)
    case seed(UInt64)
    case locality(UInt64)
    case refusals(UInt64)

    /// The name in `make simulate` and the program's options.
    var description: String {
        switch self {
        case .bystanders(let number): "BYSTANDERS=\(number)"
        case .seed(let seed): "SEED=\(seed)"
        case .locality(let seed): "LOCALITY=\(seed)"
        case .refusals(let seed): "REFUSALS=\(seed)"
        }
    }
}

/// Many runs on all processors, whose cases and reports do not depend on their speed.
///
/// Seeds begin in their order, then the cases of promise 7, and none begins after enough failures; those under way
/// finish. So the named failures are the same each time.
final class Runs: Sendable {
    struct Outcome {
        var summary: String
        /// The failures: the lowest seeds, then the cases.
        var failures: [String]
    }

    /// The seeds, one after the other, until there are none.
    typealias Seeds = @Sendable (_ begun: Int) -> UInt64?

    private struct State {
        /// The number of all begun runs, and of seeds among them.
        var begun = 0
        var seeds = 0
        var runs = 0
        var steps = 0
        var virtualSeconds = 0
        /// By the number of the failed run, in the order in which runs began.
        var failures: [(number: Int, text: String)] = []
    }

    /// The number of seeds for each check of promise 7.
    private static let localityInterval: UInt64 = 4
    private static let refusalsInterval: UInt64 = 8

    private let seeds: Seeds
    /// The number of failures after which no more runs begin.
    private let most: Int
    private let began = ContinuousClock.now
    private let state = Mutex(State())
    private let jobs = sysconf(Int32(_SC_NPROCESSORS_ONLN))

    init(most: Int, seeds: @escaping Seeds) {
        self.most = most
        self.seeds = seeds
    }

    func run() -> Outcome {
        CrashReport.install(jobs: jobs)
        DispatchQueue.concurrentPerform(iterations: jobs) { job in
            while let (number, next) = next() {
                guard passes(next, number: number, job: job), case .seed(let seed) = next else { continue }
                if seed % Self.refusalsInterval == 1, !passes(.refusals(seed), number: number, job: job) { continue }
                if seed % Self.localityInterval == 0 { _ = passes(.locality(seed), number: number, job: job) }
            }
        }
        let took = ContinuousClock.now - began
        return state.withLock { state in
            let seconds = Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18
            return Outcome(
                summary: "\(state.seeds) seeds: \(state.runs) runs, \(state.steps) steps of engines, "
                    + "\(state.virtualSeconds / 3600) hours of virtual time in \(Int(seconds.rounded())) s",
                failures: state.failures.sorted { $0.number < $1.number }.prefix(most).map(\.text))
        }
    }

    /// The next case with its number, or `nil` when there are enough.
    private func next() -> (Int, Case)? {
        state.withLock { state in
            guard state.failures.count < most else { return nil }
            defer { state.begun += 1 }
            if state.seeds == state.begun, let seed = seeds(state.begun) {
                state.seeds += 1
                return (state.begun, .seed(seed))
            }
            let number = state.begun - state.seeds
            return number < Bystanders.all.count ? (state.begun, .bystanders(number)) : nil
        }
    }

    private func passes(_ run: Case, number: Int, job: Int) -> Bool {
        CrashReport.note(run, job: job)
        defer { CrashReport.note(nil, job: job) }
        let (violations, inputs, virtualSeconds) = Self.result(of: run)
        return state.withLock { state in
            state.runs += 1
            state.steps += inputs
            state.virtualSeconds += virtualSeconds
            if !violations.isEmpty { state.failures.append((number, Self.text(run, violations))) }
            return violations.isEmpty
        }
    }

    private static func result(of run: Case) -> (violations: [String], inputs: Int, virtualSeconds: Int) {
        switch run {
        case .seed(let seed):
            let simulation = Simulation(scenario: .any(seed: seed))
            let violations = simulation.run()
            return (violations, simulation.inputs, simulation.virtualSeconds)
        case .locality(let seed):
            var locality = Locality(seed: seed)
            let violations = locality.run()
            return (violations, locality.inputs, locality.virtualSeconds)
        case .bystanders(let number):
            return (Bystanders.all[number].violation().map { [$0] } ?? [], 0, 0)
        case .refusals(let seed):
            return (Bystanders.anyRefusals(seed: seed).violation().map { [$0] } ?? [], 0, 0)
        }
    }

    private static func text(_ run: Case, _ violations: [String]) -> String {
        "\(run): \(violations.prefix(5).joined(separator: "\n  "))"
    }
}
