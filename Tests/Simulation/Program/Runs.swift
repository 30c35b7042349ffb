import Dispatch
import Glibc
import Simulation
import Synchronization

/// One thing that is run by itself, and looks the same each time.
enum Case: CustomStringConvertible {
    case bystanders(Int)
    case seed(UInt64)
    case locality(UInt64)
    case refusals(UInt64)

    /// As `make simulate` and the program's options name it.
    var description: String {
        switch self {
        case .bystanders(let number): "BYSTANDERS=\(number)"
        case .seed(let seed): "SEED=\(seed)"
        case .locality(let seed): "LOCALITY=\(seed)"
        case .refusals(let seed): "REFUSALS=\(seed)"
        }
    }
}

/// Many runs on all processors: what is run, and what is said of it, does not depend on how fast they are.
///
/// Seeds are begun in their order, then the cases of what others must not feel, and no more once enough have failed; those
/// under way end. So those that are named are the same each time.
final class Runs: Sendable {
    struct Outcome {
        var summary: String
        /// What broke: the lowest seeds, then the cases.
        var failures: [String]
    }

    /// The seeds, one after the other, until there are none.
    typealias Seeds = @Sendable (_ begun: Int) -> UInt64?

    private struct State {
        /// How many of both were begun, and how many of these are seeds.
        var begun = 0
        var seeds = 0
        var runs = 0
        var steps = 0
        var virtualSeconds = 0
        /// By the number of what failed, in the order in which it was begun.
        var failures: [(number: Int, text: String)] = []
    }

    /// Every so many seeds promise 7 is looked at, too.
    private static let localityInterval: UInt64 = 4
    private static let refusalsInterval: UInt64 = 8

    private let seeds: Seeds
    /// So many seeds may fail before no more are begun.
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

    /// What is run next and its number, or `nil` when it is enough.
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
