import Simulation

/// The command behind `make simulate`: runs scenarios until told to stop or a promise is broken.
@main
enum Simulate {
    static let usage = """
        usage: simulate --seed SEED            one run, with a trace of everything that happens
               simulate --locality SEED        the two runs that promise 7 compares, the troubled one with a trace
               simulate --minutes MINUTES      new seeds for so long
               simulate --steps STEPS          inputs of engines: three quarters from the seeds 1, 2, 3 …, the rest new
               simulate --steps STEPS --known  from the seeds 1, 2, 3 … alone
        """

    static func main() {
        var arguments = CommandLine.arguments.dropFirst()
        let option = arguments.popFirst()
        let value = arguments.popFirst()
        let isKnownOnly = arguments.popFirst() == "--known"
        switch (option, value.flatMap { UInt64($0) }) {
        case ("--seed", let seed?): replay(seed)
        case ("--locality", let seed?): compare(seed)
        case ("--minutes", let minutes?): finish(Campaign(limit: .duration(.seconds(60 * minutes)), known: 0))
        case ("--steps", let steps?):
            let known = isKnownOnly ? steps : steps / 4 * 3
            finish(Campaign(limit: .steps(Int(steps)), known: Int(known)))
        case _: fail(usage, status: 2)
        }
    }

    private static func replay(_ seed: UInt64) {
        let scenario = Scenario.any(seed: seed)
        print("\(scenario)")
        let simulation = Simulation(scenario: scenario)
        simulation.trace = { print($0) }
        let violations = simulation.run()
        print("seed \(seed): \(simulation.inputs) steps, \(violations.count) violations")
        if !violations.isEmpty { fail("", status: 1) }
    }

    private static func compare(_ seed: UInt64) {
        var locality = Locality(seed: seed)
        print("\(locality.scenario)")
        locality.trace = { print($0) }
        let violations = locality.run()
        print("seed \(seed): \(violations.count) violations")
        guard !violations.isEmpty else { return }
        fail(violations.prefix(20).joined(separator: "\n"), status: 1)
    }

    private static func finish(_ campaign: Campaign) {
        let outcome = campaign.run()
        print(outcome.summary)
        guard let failure = outcome.failure else { return }
        fail(failure, status: 1)
    }
}
