import HeraldDriver
import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTimeline
import Testing

@testable import HeraldConsole
@testable import HeraldKafka
@testable import HeraldTools

@Suite("What the pages Verdict and Now are told")
struct NowModelTests {
    private static let begin = WallTime(milliseconds: 1_795_400_040_000)

    private func worker(delivered: Double, at seconds: Int64, start: Double = 1) -> WorkerObservation {
        var status = WorkerStatus()
        status.startSeconds = start
        status.services = [
            .init(
                pns: "apns", notifications: ["delivered": delivered], calls: ["delivered": delivered],
                callsPerSecond: 12.3456)
        ]
        (status.inFlight, status.inFlightLimit) = (4, 40)
        return WorkerObservation(
            address: "a:1", state: .answered(status), at: MonotonicTime(nanoseconds: seconds * 1_000_000_000))
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

    @Test("A new tab gets all points and the present, a tab that is open the newest point alone")
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
        #expect(last["inFlight"] == .number(4) && last["inFlightLimit"] == .number(40))
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

    @Test("What dead letters have in common stays as long as they do, whatever is delivered meanwhile")
    func stayingTraits() throws {
        var model = NowModel()
        var evidence = Evidence()
        var (seconds, letters) = (0 as Int64, OpenLetters())
        func traits(of service: String) -> NotificationTraits {
            var traits = NotificationTraits()
            traits.services = [service]
            return traits
        }
        func told(delivering count: Int, to service: String) throws -> [String] {
            seconds += 1
            for _ in 0..<count { evidence.add(delivered: traits(of: service), at: Self.begin) }
            letters.causes = [letters.whole]
            var seen = sight([worker(delivered: 0, at: seconds)], at: seconds, group: .known(observation))
            (seen.letters, seen.evidence) = (letters, evidence)
            model.look(seen)
            let verdict = try #require(model.verdict)
            return try #require(
                ([verdict.first] + verdict.others).first { $0.key == FindingKey.deadLetters.rawValue }
            ).traits
        }
        letters.whole.add(traits(of: "gcm"), times: 8)
        #expect(try told(delivering: 9, to: "apns") == [], "nothing to compare with")
        #expect(try told(delivering: 40, to: "apns") == ["all for gcm"])
        #expect(try told(delivering: 400, to: "gcm") == ["all for gcm"])
        letters.whole.add(traits(of: "gcm"), times: 1)
        #expect(try told(delivering: 0, to: "gcm") == [])
    }

    @Test("Rejections of one campaign are its own trouble since its first one, also while it is called alone")
    func rejectedCampaign() throws {
        func worker(rejected: Double, at seconds: Int64) -> WorkerObservation {
            var status = WorkerStatus()
            status.startSeconds = 1
            status.services = [.init(pns: "apns", notifications: [:], calls: ["rejected": rejected])]
            return WorkerObservation(
                address: "a:1", state: .answered(status), at: MonotonicTime(nanoseconds: seconds * 1_000_000_000))
        }
        for isMixed in [false, true] {
            var model = NowModel()
            var evidence = Evidence()
            func reject(_ campaign: String?, at seconds: Int64) {
                var traits = NotificationTraits()
                (traits.services, traits.status, traits.campaign) = (["apns"], 404, campaign)
                evidence.add(rejected: traits, at: Self.begin.advanced(by: seconds * .seconds(1)))
            }
            // A third one was rejected some minutes ago, and is over.
            for _ in 0..<3_000 { reject("past", at: 3_400) }
            for (index, count) in [0.0, 0, 1, 1, 1, 1, 1, 61, 121].enumerated() {
                let seconds = 3_600 + Int64(index) * 2
                if count > 1 {
                    for number in 0..<60 { reject(isMixed && number % 10 == 0 ? nil : "bad", at: seconds) }
                } else if index == 2 {
                    reject("spring", at: seconds)
                }
                var seen = sight([worker(rejected: count, at: seconds)], at: seconds, group: .known(observation))
                seen.evidence = evidence
                model.look(seen)
            }
            let told = try #require(model.verdict?.first)
            #expect(told.finding.severity == (isMixed ? .bad : .warn))
            #expect(told.finding.title == (isMixed ? "" : "Campaign bad: ") + "apns delivers nothing")
            #expect(
                told.finding.since == Self.begin.advanced(by: (isMixed ? 3_400 : 3_614) * .seconds(1)),
                "\(told.finding)")
        }
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
        let told = try #require(model.verdict?.json(now: Self.begin, configuration: "h.yaml"))
        #expect(told["next"]?["command"] == ["herald", "doctor", "--only", "kafka", "--config", "h.yaml"])
        #expect(json["next"]?["section"] == "heraldbrokersunreachable" && json["next"]?["href"] == .null)
    }

    @Test("Workers are asked where somebody says, or where the members run, also while no broker answers")
    func addresses() {
        func plan(named: [String]? = nil) -> NowPlan {
            NowPlan(
                search: TimelineSearch(
                    topics: Topics(), delays: [], readerProperties: [], decoder: RecordDecoder(),
                    group: WorkerGroup(name: "g", listen: ("0.0.0.0", 9_464), named: named)),
                reach: ClusterReach(bootstrapServers: []),
                wishes: TopicWishes(
                    names: Topics(), retryDelays: [], partitions: 1, replication: nil, retention: .days(7),
                    maxElapsed: .days(1), eventBytes: 65_536), clientProperties: [], groupProperties: [],
                readerProperties: [])
        }
        // A worker that its group does not let in is no member; where none answers, nothing is said of it.
        let unnamed = plan()
        #expect(NowModel.addresses(unnamed, .unasked) == ["127.0.0.1:9464"])
        var starting = WorkerStatus()
        starting.reasons = [Finding(.starting, "it is starting")]
        let there = WorkerObservation(
            address: "127.0.0.1:9464", state: .answered(starting), at: MonotonicTime(nanoseconds: 0))
        var silent = there
        silent.state = .silent(.init(reason: "no route"))
        #expect(NowModel.known([silent, there], unnamed, .unasked) == [there])
        #expect(NowModel.known([silent, there], unnamed, .known(observation)) == [silent, there])
        #expect(NowModel.addresses(unnamed, .known(observation)) == ["10.0.0.1:9464"])
        #expect(NowModel.addresses(unnamed, .unreachable("", last: observation)) == ["10.0.0.1:9464"])
        #expect(NowModel.addresses(plan(named: ["b:2"]), .unasked) == ["b:2"])
    }
}
