import HeraldCore
import HeraldTime
import Simulation
import Testing

@Suite("A scenario in text form")
struct ScenarioTextTests {
    @Test("named settings are changed, and the others keep their defaults")
    func named() throws {
        let scenario = try Scenario(
            text: "seed=3 workers=1  crashes=9 isAtomic=true hanging=1,2 forbidden= pauseIfFailures=0.2 ordering=none "
                + "breaker=0.5/10 serviceCallsPerSecond=none,100 commitInterval=10")
        #expect(scenario.seed == 3)
        #expect(scenario.workers == 1)
        #expect(scenario.crashes == 9)
        #expect(scenario.isAtomic)
        #expect(scenario.hanging == [1, 2])
        #expect(scenario.forbidden == [])
        #expect(scenario.pauseIfFailures == 0.2)
        #expect(scenario.ordering == .none)
        #expect(scenario.breaker == BreakerRule(share: 0.5, of: 10))
        #expect(scenario.serviceCallsPerSecond == [nil, 100])
        #expect(scenario.commitInterval == .milliseconds(10))
        #expect(scenario.stops == Scenario(seed: 3).stops)
    }

    @Test("a calm scenario has the named faults, wherever the word stands")
    func calm() throws {
        let scenario = try Scenario(text: "crashes=9 calm")
        #expect(scenario.crashes == 9)
        #expect(scenario.stops == 0)
        #expect(!scenario.hasStorms)
    }

    @Test("a scenario's text gives the same scenario", arguments: UInt64(1)...20)
    func again(seed: UInt64) throws {
        let text = Scenario.any(seed: seed).text
        #expect(try Scenario(text: text).text == text)
    }

    @Test("the text of a seed gives the seed's run")
    func sameRun() throws {
        let first = Simulation(scenario: .any(seed: 5))
        let second = Simulation(scenario: try Scenario(text: Scenario.any(seed: 5).text))
        #expect(first.run() == second.run())
        #expect(first.inputs == second.inputs)
        #expect(first.virtualSeconds == second.virtualSeconds)
    }

    @Test(
        "an invalid scenario is refused, with the reason",
        arguments: [
            ("crash=1", "crash is no setting of a scenario; these are: calm seed isAtomic workers"),
            ("crashes", "crashes: a setting is written name=value"),
            ("crashes=", "crashes=: it has to be a whole number from 0 on"),
            ("crashes=-1", "crashes=-1: it has to be a whole number from 0 on"),
            ("workers=0", "workers=0: it has to be a whole number from 1 on"),
            ("seed=x", "seed=x: it has to be a seed"),
            ("isAtomic=yes", "isAtomic=yes: it has to be true or false"),
            ("crashes=1 crashes=2", "crashes is there twice"),
            ("ordering=user", "ordering=user: it has to be one of key, partition, none"),
            ("hanging=1,,2", "hanging=: it has to be numbers of users with commas between"),
            ("storm=rain", "storm=rain: it has to be any or one of password, name, failures, path, capacity"),
            ("callsPerSecond=few", "callsPerSecond=few: it has to be a number or none"),
            ("breaker=0.5", "breaker=0.5: it has to be a share and a number such as 0.8/100"),
            ("delays=5x", "delays=5x: it has to be delays such as 5s with commas between"),
        ])
    func refusals(text: String, words: String) {
        #expect {
            _ = try Scenario(text: text)
        } throws: {
            "\($0)".hasPrefix(words)
        }
    }
}
