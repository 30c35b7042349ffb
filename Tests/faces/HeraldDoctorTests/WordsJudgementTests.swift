import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldDoctor

@Suite("The judgement of users' words, and of clocks")
struct WordsJudgementTests {
    private static func plan(hasSecret: Bool = false, hasDefaultZone: Bool = true) -> BrokerPlan.WordsPlan {
        BrokerPlan.WordsPlan(
            pushServices: .standard, hasSecret: hasSecret, zones: TimeZones(), hasDefaultZone: hasDefaultZone)
    }

    private static func checks(
        _ records: [(key: String, value: String?)], _ plan: BrokerPlan.WordsPlan = plan(), partitions: Int = 1,
        isWhole: Bool = true
    ) -> [Check] {
        var judgement = WordsJudgement(plan)
        for (offset, record) in records.enumerated() {
            judgement.look(
                at: record.value.map { Array($0.utf8) }, of: Array(record.key.utf8), place: "0:\(offset)")
        }
        return judgement.checks(of: "words", partitions: partitions, isWhole: isWhole)
    }

    private static let name = "hash:" + String(repeating: "a", count: 64)

    @Test("Sound words pass, and the last record of a user counts")
    func sound() {
        let records: [(String, String?)] = [
            ("ann", "nix"), ("ann", #"{"optOut":["all"]}"#), ("bob", "nix"), ("bob", nil),
            ("eve", #"{"optOut":[],"quiet":{"start":"22:00","end":"07:00"}}"#),
        ]
        #expect(Self.checks(records).map(\.verdict) == [.passed])
        #expect(Self.checks(records, isWhole: false).map(\.verdict) == [.skipped])
        #expect(Self.checks(records, partitions: 3).map(\.verdict) == [.warning])
    }

    @Test("A broken word is named by its place, and by no user")
    func broken() {
        let checks = Self.checks([("ann", #"{"optOut":["all"]}"#), ("ann", "nix"), ("bob", #"{"optOut":["sms"]}"#)])
        #expect(checks.map(\.verdict) == [.warning])
        #expect(checks[0].detail.hasPrefix("2 users' words are broken, the first at 0:1: it "), "\(checks)")
        #expect(!checks[0].detail.contains("ann"))
    }

    @Test("What is kept of forgotten users has to be found: without the secret that must be fixed")
    func kept() {
        let records: [(String, String?)] = [(Self.name, #"{"optOut":["all"]}"#)]
        #expect(Self.checks(records).map(\.verdict) == [.failed])
        #expect(Self.checks(records, Self.plan(hasSecret: true)).map(\.verdict) == [.passed])
        #expect(Self.checks(records + [(Self.name, nil)]).map(\.verdict) == [.passed])
    }

    @Test("Quiet hours that hold nothing are told: of an unknown zone, and of none")
    func zones() {
        let unnamed: [(String, String?)] = [("eve", #"{"optOut":[],"quiet":{"start":"22:00","end":"07:00"}}"#)]
        #expect(Self.checks(unnamed, Self.plan(hasDefaultZone: false))[0].fix == "set preferences.defaultZone")
        let unknown: [(String, String?)] = [
            ("eve", #"{"optOut":[],"quiet":{"zone":"Mars/Base","start":"22:00","end":"07:00"}}"#)
        ]
        #expect(
            Self.checks(unknown)[0].detail.contains(#"hold nothing, the first at 0:0: "Mars/Base" is no time zone"#))
    }

    @Test("A clock that is wrong is told: a worker's, a publisher's, and one that nothing sets")
    func clocks() {
        #expect(ClockJudgement.check(worker: "w:1", lag: .seconds(-5)) == nil)
        #expect(
            ClockJudgement.check(worker: "w:1", lag: .seconds(-6))?.detail.hasPrefix("the worker's is 6 s ahead")
                == true)
        #expect(ClockJudgement.check(worker: "w:1", lag: .seconds(61))?.verdict == .failed)
        #expect(
            [true, false, nil].map { ClockJudgement.check(isSet: $0).verdict } == [.passed, .warning, .skipped])
        var judgement = PublisherJudgement(partitions: 1)
        let now = WallTime(milliseconds: 1_800_000_000_000)
        judgement.note(now.advanced(by: .seconds(10)), at: "t/0/1")
        #expect(judgement.clock(of: "t", now: now) == nil)
        judgement.note(now.advanced(by: .minutes(1)), at: "t/0/2")
        judgement.note(now, at: "t/0/3")
        let wrong = judgement.clock(of: "t", now: now)
        #expect(wrong?.verdict == .warning && wrong?.detail.contains("t/0/2 was published 60 s from now") == true)
    }
}
