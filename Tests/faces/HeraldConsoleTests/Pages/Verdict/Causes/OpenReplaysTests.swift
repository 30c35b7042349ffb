import HeraldTime
import Testing

@testable import HeraldConsole

@Suite("Replayed events that wait for their next call")
struct OpenReplaysTests {
    private static func at(_ seconds: Int64) -> WallTime { WallTime(milliseconds: seconds * 1_000) }

    private static func replay(
        _ origin: String, answeredAt: Int64, nextCall: Int64?, status: Int64 = 500
    ) -> OpenReplay {
        OpenReplay(
            origin: origin, services: ["wns"], status: status, detail: nil, answeredAt: at(answeredAt),
            nextCall: nextCall.map(at))
    }

    @Test("have their last answer, newest first, until their next call is due")
    func last() {
        var open = OpenReplays()
        open.add(Self.replay("a", answeredAt: 10, nextCall: 11))
        open.add(Self.replay("a", answeredAt: 20, nextCall: 40, status: 503))
        open.add(Self.replay("a", answeredAt: 15, nextCall: 18))
        open.add(Self.replay("b", answeredAt: 30, nextCall: nil))
        open.add(Self.replay("c", answeredAt: 1, nextCall: 100))
        let told = open.since(Self.at(5), now: Self.at(45))
        #expect(told.map(\.origin) == ["b", "a"] && told.last?.status == 503)
        #expect(open.since(Self.at(5), now: Self.at(65)).map(\.origin) == ["a"])
        #expect(open.since(Self.at(5), now: Self.at(75)).isEmpty)
    }

    @Test("are bounded: the newest are kept")
    func bounded() {
        var open = OpenReplays()
        for number in 0..<1_000 as Range<Int64> {
            open.add(Self.replay("o\(number)", answeredAt: number, nextCall: 5_000))
        }
        let told = open.since(Self.at(0), now: Self.at(1_000))
        #expect(told.count == 256 && told.first?.origin == "o999" && told.last?.origin == "o744")
    }
}
