import Simulation

/// The command behind `make simulate`: runs scenarios until told to stop or a promise is broken.
@main
enum Simulate {
    static let usage = """
        usage: simulate --seeds FIRST...LAST  these seeds, and what others must not feel; says which of them fail, \(most) at most
               simulate --first FIRST...LAST  the same until the first one that fails
               simulate --minutes MINUTES     new seeds for so long, until one fails
               simulate --seed SEED           one run, with a trace of everything that happens
               simulate --scenario SETTINGS   the same of a scenario that is written down: 'seed=3 workers=1 crashes=9'
               simulate --locality SEED       the two runs that promise 7 compares, the troubled one with a trace
               simulate --bystanders NUMBER   one case of what others must not feel
               simulate --refusals SEED       the same with refusals for some users that the seed decides
               … --quiet                      without the trace
        """

    /// The largest number of failed seeds that are named.
    static let most = 6

    static func main() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let isQuiet = arguments.last == "--quiet"
        if isQuiet { arguments.removeLast() }
        guard arguments.count == 2 else { fail(usage, status: 2) }
        let (option, value) = (arguments[0], arguments[1])
        switch (option, UInt64(value)) {
        case ("--seeds", _): finish(runs(value, most: most))
        case ("--first", _): finish(runs(value, most: 1))
        case ("--minutes", let minutes?): finish(search(for: .seconds(60 * minutes)))
        case ("--seed", let seed?): replay(.any(seed: seed), "SEED=\(seed)", isQuiet: isQuiet)
        case ("--scenario", _):
            do { replay(try Scenario(text: value), "SCENARIO", isQuiet: isQuiet) } catch { fail("\(error)", status: 2) }
        case ("--locality", let seed?): compare(seed, isQuiet: isQuiet)
        case ("--bystanders", let number?) where number < Bystanders.all.count:
            examine(Bystanders.all[Int(number)], "BYSTANDERS=\(number)")
        case ("--refusals", let seed?): examine(.anyRefusals(seed: seed), "REFUSALS=\(seed)")
        case _: fail(usage, status: 2)
        }
    }

    /// The seeds of a range, whose dots may be one character.
    private static func runs(_ range: String, most: Int) -> Runs {
        let bounds = range.replacing("…", with: "...").split(separator: ".", omittingEmptySubsequences: true)
        guard bounds.count == 2, let first = UInt64(bounds[0]), let last = UInt64(bounds[1]), first <= last else {
            fail("\(range): seeds are written FIRST...LAST\n\(usage)", status: 2)
        }
        return Runs(most: most) { begun in UInt64(begun) <= last - first ? first + UInt64(begun) : nil }
    }

    private static func search(for duration: Duration) -> Runs {
        let end = ContinuousClock.now + duration
        return Runs(most: 1) { _ in
            ContinuousClock.now < end ? UInt64.random(in: 1_000_000_000...UInt64.max) : nil
        }
    }

    private static func replay(_ scenario: Scenario, _ name: String, isQuiet: Bool) {
        print(scenario.text)
        let simulation = Simulation(scenario: scenario)
        if !isQuiet { simulation.trace = { print($0) } }
        let violations = simulation.run()
        print("\(name): \(simulation.inputs) steps, \(violations.count) violations")
        finish(name, violations)
    }

    private static func compare(_ seed: UInt64, isQuiet: Bool) {
        var locality = Locality(seed: seed)
        print("\(locality.scenario)")
        if !isQuiet { locality.trace = { print($0) } }
        let violations = locality.run()
        print("LOCALITY=\(seed): \(locality.inputs) steps, \(violations.count) violations")
        finish("LOCALITY=\(seed)", violations)
    }

    private static func examine(_ bystanders: Bystanders, _ name: String) {
        let violation = bystanders.violation()
        print("\(bystanders)")
        finish(name, violation.map { [$0] } ?? [])
    }

    private static func finish(_ name: String, _ violations: [String]) {
        guard !violations.isEmpty else { return }
        fail("\(name): \(violations.prefix(20).joined(separator: "\n  "))", status: 1)
    }

    private static func finish(_ runs: Runs) {
        let outcome = runs.run()
        print(outcome.summary)
        guard !outcome.failures.isEmpty else { return }
        fail(
            outcome.failures.joined(separator: "\n")
                + "\nSee one again, step by step: make simulate SEED=… (or LOCALITY=…, BYSTANDERS=…, REFUSALS=…)",
            status: 1)
    }
}
