import HeraldHTTP
import HeraldText
import HeraldTime
import Testing

@testable import HeraldConsole

@Suite("Who may use the console")
struct AccessTests {
    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test("A one-time key opens one session, a newer key makes the former one worthless")
    func keys() {
        var table = SessionTable()
        let former = table.newOneTimeKey()
        let key = table.newOneTimeKey()
        var taken: [Bool] = []
        for shown in [former, "", key, key] { taken.append(table.takeOneTimeKey(shown)) }
        #expect(taken == [false, false, true, false])
        #expect(key.count == 64 && key != former)
    }

    @Test("A session ends after a working day, when it is closed, and when too many come after it")
    func sessions() {
        var table = SessionTable()
        let first = table.open(name: "ann", role: .operator, token: nil, now: at(0))
        #expect(table.session(first, now: at(1))?.name == "ann")
        #expect(table.session(first, now: at(12 * 3_600 + 1)) == nil)
        let second = table.open(name: "bob", role: .viewer, token: nil, now: at(1))
        table.close(second)
        #expect(table.session(second, now: at(2)) == nil)
        for number in 0..<SessionTable.most {
            _ = table.open(name: "c", role: .viewer, token: nil, now: at(10 + Double(number)))
        }
        #expect(table.session(first, now: at(2_000)) == nil)
    }

    @Test("A rate lets a burst through and then so many a second, each for itself, and the table is bounded")
    func rates() {
        var table = RateTable<Int>(perSecond: 2, burst: 3, most: 4)
        var first: [Bool] = []
        for _ in 0..<5 { first.append(table.take(1, now: at(0))) }
        #expect(first == [true, true, true, false, false])
        let (early, other) = (table.take(1, now: at(0.4)), table.take(2, now: at(0.4)))
        #expect(!early && other)
        let (again, twice) = (table.take(1, now: at(0.5)), table.take(1, now: at(0.5)))
        #expect(again && !twice)
        table.giveBack(1)
        let returned = table.take(1, now: at(0.5))
        #expect(returned)
        for key in 3..<100 { _ = table.take(key, now: at(0.6)) }
        let newcomer = table.take(200, now: at(0.6))
        let later = table.take(200, now: at(60))
        #expect(!newcomer && later)
    }

    @Test("Only patterns of the same length match, and what stands for a star is a parameter")
    func patterns() {
        let route = ConsoleRoute.get("/api/failures/letters/*") { _ in .json([:]) }
        #expect(route.parameters(of: ["api", "failures", "letters", "3:17"]) == ["3:17"])
        #expect(route.parameters(of: ["api", "failures", "letters"]) == nil)
        #expect(route.parameters(of: ["api", "failures", "letter", "3:17"]) == nil)
    }

    @Test("Viewers look, operators do what the console allows")
    func roles() {
        let routes = [
            ConsoleRoute.get("/a") { _ in .json([:]) }, .operate("/a") { _ in .json([:]) },
            .change("/a") { _ in .json([:]) },
        ]
        func may(_ role: Viewer.Role, _ allowsChanges: Bool) -> [Bool] {
            let viewer = Viewer(name: "ann", role: role, allowsChanges: allowsChanges)
            return routes.map { $0.refusal(of: viewer) == nil }
        }
        #expect(may(.viewer, true) == [true, false, false])
        #expect(may(.operator, false) == [true, true, false])
        #expect(may(.operator, true) == [true, true, true])
    }
}
