import HeraldText
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldReplay

@Suite("What a plan comes to")
struct ReplayForecastTests {
    @Test(
        "A rate that nobody can mean, or a speed that workers cannot have, ends no process", arguments: [1e-300, 1e300])
    func extremes(perSecond: Double) throws {
        var plan = ReplayPlan()
        var entry = SampleEntry.make()
        let rules = ReplayRules(maximumReplays: 5, requestTopics: ["notifications"])
        plan.add(entry, rules.decision(for: &entry, MarkIndex(), now: SampleEntry.moment))
        var options = ReplayOptions()
        let estimated = ReplayForecast(plan, options, outcomesPerSecond: perSecond)
        #expect(estimated.words.hasPrefix("about ") && estimated.members.contains { $0.name == "seconds" })
        options.rate = perSecond
        for isForeign in [false, true] {
            let forecast = ReplayForecast(plan, options, outcomesPerSecond: nil, isForeign: isForeign)
            #expect(forecast.words.hasPrefix("at least ") && forecast.members.contains { $0.name == "seconds" })
        }
    }
}
