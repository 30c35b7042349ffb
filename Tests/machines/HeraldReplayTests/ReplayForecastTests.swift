import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldReplay

@Suite("The forecast of a plan")
struct ReplayForecastTests {
    @Test(
        "An absurd rate, or an impossible speed of workers, traps nothing", arguments: [1e-300, 1e300])
    func extremes(perSecond: Double) throws {
        var plan = ReplayPlan()
        var entry = SampleEntry.make()
        let rules = ReplayRules(maximumReplays: 5, requestTopics: ["notifications"])
        plan.add(entry, rules.decision(for: &entry, MarkIndex(), now: SampleEntry.moment))
        var options = ReplayOptions()
        let estimated = ReplayForecast(plan, options, outcomesPerSecond: perSecond)
        #expect(estimated.words.hasPrefix("about ") && estimated.members.contains { $0.name == "seconds" })
        options.rate = perSecond
        for hasOutcomes in [false, true] {
            let forecast = ReplayForecast(plan, options, outcomesPerSecond: nil, hasOutcomes: hasOutcomes)
            #expect(forecast.words.hasPrefix("at least ") && forecast.members.contains { $0.name == "seconds" })
        }
    }

    private static func history(_ error: String?, status: Int? = nil) -> [String: String] {
        let answer = error.map { #""error":"\#($0)""# } ?? #""status":\#(status ?? 500)"#
        return ["herald-history": #"[{"at":"2026-11-21T08:40:26.123Z","pns":"gcm",\#(answer),"ms":10000}]"#]
    }

    private func doubt(_ rules: ReplayRules, _ letters: [[String: String]]) -> String? {
        var plan = ReplayPlan()
        for headers in letters {
            var entry = SampleEntry.make(headers)
            plan.add(entry, rules.decision(for: &entry, MarkIndex(), now: SampleEntry.moment))
        }
        return ReplayForecast(plan, ReplayOptions(), outcomesPerSecond: nil).doubt
    }

    @Test("Letters whose calls timed out or were cut off may have arrived; with a fresh key they count as new")
    func mayHaveArrived() {
        var rules = ReplayRules(maximumReplays: 5, requestTopics: ["notifications"])
        let letters = [
            Self.history("timeout"), Self.history("connection reset"), Self.history("connection refused"),
            Self.history(nil, status: 503), Self.history(nil, status: 504), [:],
        ]
        #expect(doubt(rules, letters)?.hasPrefix("3 may have arrived") == true)
        #expect(doubt(rules, letters)?.contains("sends nothing twice") == true)
        #expect(doubt(rules, [Self.history("connection refused")]) == nil)
        rules.hasFreshKey = true
        #expect(doubt(rules, letters)?.contains("With a fresh key the backend cannot recognise them") == true)
        rules.onlyPushServices = ["apns"]
        #expect(doubt(rules, letters) == nil, "gcm's calls are not repeated")
    }

    @Test("A correction names its changes, even of an invalid event; unchanged members are not named")
    func corrections() throws {
        var rules = ReplayRules(maximumReplays: 5, requestTopics: ["notifications"])
        var change = EventChange()
        change.pushServices = ["apns"]
        rules.correction = .members(change)
        for value in [
            #"{"id":"e1","user":"ann","message":"Hello","pns":["apnss"]}"#
        ] {
            let corrected = try rules.correction?.applied(to: SampleEntry.make(value: value), RecordDecoder())
            #expect(corrected?.words == "pns apnss → apns" && corrected?.formerCalls.isEmpty == true)
        }
        change.message = "Howdy"
        let other = try Correction.members(change).applied(to: SampleEntry.make(), RecordDecoder())
        #expect(other.words == "pns apns,gcm,wns → apns, message 5 bytes → 5 bytes")
        var entry = SampleEntry.make(
            value: #"{"id":"e1","user":"ann","message":"Hello","pns":["apnss"]}"#, ["herald-pns": ""])
        guard case .replay(let replay) = rules.decision(for: &entry, MarkIndex(), now: SampleEntry.moment) else {
            Issue.record("it is replayed")
            return
        }
        #expect(replay.pushServices == ["apns"] && replay.isWhole && replay.isCorrectedForOthers && replay.hasFreshKey)
    }
}
