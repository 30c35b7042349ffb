import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldConsole
@testable import HeraldKafka

@Suite("The data of the pages Verdict and Now")
struct NowModelTests {
    private static let begin = WallTime(milliseconds: 1_795_400_040_000)

    private func worker(delivered: Double, at seconds: Int64, start: Double = 1) -> WorkerObservation {
        var numbers = WorkerNumbers()
        numbers.startSeconds = start
        numbers.notifications[.init(service: "apns", end: "delivered")] = delivered
        numbers.calls[.init(service: "apns", end: "delivered")] = delivered
        numbers.inFlight = 4
        numbers.inFlightLimit = .infinity
        numbers.rateLimits = ["apns": 12.3456]
        return WorkerObservation(
            address: "a:1", state: .answered(.init(ready: true)), numbers: numbers,
            at: MonotonicTime(nanoseconds: seconds * 1_000_000_000))
    }

    private func sight(
        _ workers: [WorkerObservation], at seconds: Int64, group: GroupKnowledge = .unasked
    ) -> NowModel.Snapshot {
        NowModel.Snapshot(
            now: Self.begin.advanced(by: seconds * .seconds(1)), workers: workers, group: group,
            letters: OpenLetters())
    }

    private var observation: GroupObservation {
        var observation = GroupObservation(
            at: Self.begin, state: "Stable", members: [.init(clientID: "c", host: "/10.0.0.1", partitions: [])],
            partitions: (0..<200).map { number in
                GroupObservation.Partition(
                    place: TopicPartition(topic: "t", partition: number), lag: Int64(number), hasMember: true)
            })
        observation.backlogs = [.init(delay: "10s", waiting: 7, due: [1, 7, 7, 7, 7])]
        return observation
    }

    @Test("A new tab gets all points and the present, an open tab only the newest point")
    func history() throws {
        var model = NowModel()
        for (index, count) in [1_000.0, 1_020, 1_040].enumerated() {
            let seconds = Int64(index) * 2
            model.look(sight([worker(delivered: count, at: seconds)], at: seconds, group: .known(observation)))
        }
        guard case .array(let points)? = model.json["points"] else { throw InvalidArgument("no points") }
        #expect(points.count == 3 && points.last == model.newsJSON["point"])
        #expect(model.json["stepMilliseconds"] == 2_000)
        let last = try #require(points.last)
        #expect(last["at"] == "2026-11-23T02:14:04.000Z")
        #expect(last["outcomes"]?["apns"]?["delivered"] == .number(10))
        #expect(last["inFlight"] == .number(4) && last["inFlightLimit"] == .null, "no number of JSON's")
        #expect(last["waiting"] == .integer(199 * 200 / 2) && last["retrying"] == 0)

        let current = try #require(model.newsJSON["current"])
        #expect(current == model.json["current"])
        guard case .array(let partitions)? = current["partitions"] else { throw InvalidArgument("no partitions") }
        #expect(partitions.count == 50 && partitions.first?["partition"] == 199)
        #expect(current["limits"] == [["pns": "apns", "callsPerSecond": .number(12.346)]])
        #expect(current["backlogWithinSeconds"] == [0, 60, 300, 900, 3_600])
        #expect(current["backlog"] == [["delay": "10s", "waiting": 7, "due": [1, 7, 7, 7, 7]]])
        #expect(current["group"]?["members"] == 1 && current["group"]?["problem"] == .null)
    }

    @Test("A verdict has the members that the frame of all pages shows, and the next step")
    func verdict() throws {
        var model = NowModel()
        model.look(sight([], at: 0))
        #expect(model.verdict?.json(now: Self.begin)["state"] == "unknown")
        var empty = observation
        empty.members = []
        model.look(sight([], at: 20, group: .known(empty)))
        model.look(sight([], at: 40, group: .unreachable("gone", last: empty)))
        let json = try #require(model.verdict?.json(now: Self.begin))
        #expect(json["state"] == "bad" && json["key"] == "brokers-unreachable")
        #expect(json["sentence"] == "Brokers unreachable since 02:14 UTC: gone")
        #expect(json["since"] == "2026-11-23T02:14:40.000Z" && json["cause"] == "gone")
        #expect(json["waiting"] == .integer(199 * 200 / 2) && json["retrying"] == 0 && json["others"] == [])
        #expect(json["next"]?["command"] == ["herald", "doctor", "--only", "kafka"])
        #expect(json["next"]?["section"] == "heraldbrokersunreachable" && json["next"]?["href"] == .null)
    }

    @Test("A worker's texts are cut, and can control nothing")
    func hostile() {
        let long = String(repeating: "x", count: 100_000)
        let page = WorkerSurvey.Page(
            ready: false,
            reasons: (0..<1_000).map { .init(reason: "r\($0)\u{202E}", sentence: "\u{1B}[2J\(long)", since: long) })
        let bounded = page.bounded
        #expect(bounded.reasons.count == 16)
        #expect(bounded.reasons.allSatisfy { $0.sentence.count < 600 && ($0.since?.count ?? 0) < 100 })
        #expect(bounded.reasons[0].reason == "r0\\u{202E}" && bounded.reasons[0].sentence.hasPrefix("\\u{1B}[2J"))
    }

    @Test("Workers are asked at configured addresses, or where the members run, even without brokers")
    func addresses() {
        var plan = NowPlan(
            topics: Topics(), delays: [], group: "g", reach: ClusterReach(bootstrapServers: []),
            clientProperties: [], groupProperties: [], readerProperties: [], listen: ("0.0.0.0", 9_464))
        // A worker that is not admitted to its group is no member; without answers nothing is said about it.
        #expect(NowModel.addresses(plan, .unasked) == ["127.0.0.1:9464"])
        let there = WorkerObservation(
            address: "127.0.0.1:9464", state: .answered(.init(ready: false)), at: MonotonicTime(nanoseconds: 0))
        var silent = there
        silent.state = .silent("no route")
        #expect(NowModel.known([silent, there], plan, .unasked) == [there])
        #expect(NowModel.known([silent, there], plan, .known(observation)) == [silent, there])
        #expect(NowModel.addresses(plan, .known(observation)) == ["10.0.0.1:9464"])
        #expect(NowModel.addresses(plan, .unreachable("", last: observation)) == ["10.0.0.1:9464"])
        plan.workers = ["b:2"]
        #expect(NowModel.addresses(plan, .unasked) == ["b:2"])
    }
}
