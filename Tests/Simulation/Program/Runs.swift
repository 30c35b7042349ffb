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
/// Seeds are begun in their order, and no more once enough have failed; those under way end. So the lowest that fail are
/// the same each time.
final class Runs: Sendable {
    struct Outcome {
        var summary: String
        /// What broke, the lowest seeds first.
        var failures: [String]
    }

    /// The seeds, one after the other, until there are none.
    typealias Seeds = @Sendable (_ begun: Int) -> UInt64?

    private struct State {
        var begun = 0
        var runs = 0
        var steps = 0
        var virtualSeconds = 0
        /// By the number of the seed in its order.
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
        CrashReport.install(jobs: max(jobs, Bystanders.all.count))
        DispatchQueue.concurrentPerform(iterations: Bystanders.all.count) { number in
            CrashReport.note(.bystanders(number), job: number)
            let violation = Bystanders.all[number].violation()
            CrashReport.note(nil, job: number)
            guard let violation else { return }
            let failure = Self.text(.bystanders(number), [violation])
            state.withLock { $0.failures.append((number - Bystanders.all.count, failure)) }
        }
        DispatchQueue.concurrentPerform(iterations: jobs) { job in
            while let (number, seed) = next() { run(seed, number: number, job: job) }
        }
        let took = ContinuousClock.now - began
        return state.withLock { state in
            let seconds = Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18
            return Outcome(
                summary: "\(state.begun) seeds: \(state.runs) runs, \(state.steps) steps of engines, "
                    + "\(state.virtualSeconds / 3600) hours of virtual time in \(Int(seconds.rounded())) s",
                failures: state.failures.sorted { $0.number < $1.number }.prefix(most).map(\.text))
        }
    }

    private func run(_ seed: UInt64, number: Int, job: Int) {
        CrashReport.note(.seed(seed), job: job)
        let simulation = Simulation(scenario: .any(seed: seed))
        var violations = simulation.run()
        note(violations, of: .seed(seed), number, simulation.inputs, simulation.virtualSeconds)
        guard violations.isEmpty else { return }
        if seed % Self.refusalsInterval == 1 {
            CrashReport.note(.refusals(seed), job: job)
            violations = Bystanders.anyRefusals(seed: seed).violation().map { [$0] } ?? []
            note(violations, of: .refusals(seed), number, 0, 0)
        }
        guard seed % Self.localityInterval == 0 else { return }
        CrashReport.note(.locality(seed), job: job)
        var locality = Locality(seed: seed)
        violations = locality.run()
        note(violations, of: .locality(seed), number, locality.inputs, locality.virtualSeconds)
    }

    /// The next seed and its number, or `nil` when it is enough.
    private func next() -> (Int, UInt64)? {
        state.withLock { state in
            guard state.failures.count < most, let seed = seeds(state.begun) else { return nil }
            defer { state.begun += 1 }
            return (state.begun, seed)
        }
    }

    private func note(_ violations: [String], of run: Case, _ number: Int, _ inputs: Int, _ virtualSeconds: Int) {
        state.withLock { state in
            state.runs += 1
            state.steps += inputs
            state.virtualSeconds += virtualSeconds
            guard !violations.isEmpty else { return }
            state.failures.append((number, Self.text(run, violations)))
        }
    }

    private static func text(_ run: Case, _ violations: [String]) -> String {
        "\(run): \(violations.prefix(5).joined(separator: "\n  "))"
    }
}
