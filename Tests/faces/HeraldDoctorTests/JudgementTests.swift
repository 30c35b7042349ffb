import HeraldEvents
import HeraldHTTP
import HeraldText
import HeraldTime
import TestSupport
import Testing

@testable import HeraldDoctor
@testable import HeraldDriver
@testable import HeraldKafka
@testable import HeraldTools

@Suite("The judgement on a certificate")
struct CertificateCheckTests {
    private let endpoint = Endpoint(host: "a.example", port: 443)
    private let now = WallTime(milliseconds: 1_000 * 86_400_000)

    private func check(
        daysLeft: Int64, _ distrust: TLSHandshake.Distrust? = nil, isVerified: Bool = true
    ) -> Check {
        let seconds = 1_000 * 86_400 + daysLeft * 86_400
        return CertificateCheck(name: "tls", authoritySetting: "the setting", now: now).check(
            .certificate(.init(expiresAt: seconds, names: "DNS:b.example", distrust: distrust)), of: endpoint,
            isVerified: isVerified)
    }

    @Test("A certificate that is valid for 30 days passes, and a day less is a warning")
    func expiry() {
        #expect(check(daysLeft: 30).verdict == .passed)
        let soon = check(daysLeft: 29)
        #expect(soon.verdict == .warning && soon.detail.contains("29 days") && soon.fix == "renew the certificate")
    }

    @Test("A certificate's fault is reported with its remedy")
    func wrong() {
        let expired = check(daysLeft: -3, .init(kind: .expired, reason: "x"))
        #expect(expired.verdict == .failed && expired.detail == "the certificate expired 3 days ago")
        let authority = check(daysLeft: 90, .init(kind: .expired, reason: "x"))
        #expect(authority.detail.contains("an authority's certificate"))
        let name = check(daysLeft: 90, .init(kind: .wrongName, reason: "x"))
        #expect(name.detail == "the certificate is for DNS:b.example, not for a.example")
        let unknown = check(daysLeft: 90, .init(kind: .unknownAuthority, reason: "self-signed"))
        #expect(unknown.verdict == .failed && unknown.fix?.contains("the setting") == true)
    }

    @Test("Unverified certificates are a warning, whatever they are")
    func unverified() {
        #expect(check(daysLeft: -3, .init(kind: .expired, reason: "x"), isVerified: false).verdict == .warning)
    }
}

@Suite("The judgement on topics, groups, answers and clocks")
struct JudgementTests {
    private func topic(_ partitions: [(leader: Int32?, replicas: Int, inSync: Int)]) -> ClusterMetadata.Topic {
        var topic = ClusterMetadata.Topic(name: "t", partitions: [], error: nil)
        topic.partitions = partitions.enumerated().map { index, partition in
            .init(
                id: Int32(index), leader: partition.leader, replicas: Array(0..<Int32(partition.replicas)),
                inSyncReplicaCount: partition.inSync)
        }
        return topic
    }

    @Test("A partition without a leader, or with too few copies in sync, fails; one copy behind warns")
    func leaders() {
        var judgement = TopicJudgement()
        judgement.judge(topic([(1, 3, 3), (1, 3, 2)]), minimumInSync: 2)
        #expect(judgement.verdict == .warning)
        judgement = TopicJudgement()
        judgement.judge(topic([(1, 3, 1)]), minimumInSync: 2)
        #expect(judgement.verdict == .failed && judgement.remarks[0].contains("nothing can be written"))
        judgement = TopicJudgement()
        judgement.judge(topic([(1, 1, 1)]), minimumInSync: 2)
        #expect(judgement.verdict == .passed, "brokers demand no more copies than there are")
        judgement = TopicJudgement()
        judgement.judge(topic([(nil, 3, 1), (1, 3, 3)]), minimumInSync: 2)
        #expect(judgement.verdict == .failed && judgement.remarks == ["no leader for partition 0"])
    }

    @Test("A partition whose leader does not answer fails, whatever the metadata says of it")
    func silentLeader() {
        var judgement = TopicJudgement()
        judgement.judge(topic([(1, 3, 3), (2, 3, 3), (nil, 3, 3)]), silentBrokers: [2, 3])
        #expect(judgement.verdict == .failed, "\(judgement.remarks)")
        #expect(judgement.remarks == ["the broker that leads partition 1 does not answer"])
        judgement = TopicJudgement()
        judgement.judge(topic([(1, 3, 3)]), silentBrokers: [2])
        #expect(judgement.verdict == .passed)
    }

    @Test("Differences from the settings warn")
    func differences() {
        func verdict(_ property: TopicProperty, _ action: TopicPlan.Action) -> Verdict {
            var judgement = TopicJudgement()
            let step = TopicPlan.Step(
                topic: "t", property: property, now: "1", wanted: "2", action: action, note: "why")
            judgement.judge(step, servers: "a:1")
            return judgement.verdict
        }
        #expect(verdict(.retention, .none) == .passed)
        #expect(verdict(.retention, .change) == .warning)
        #expect(verdict(.cleanupPolicy, .byHand) == .warning)
        #expect(verdict(.minInSyncReplicas, .byHand) == .warning)
    }

    private func position(_ number: Int32, _ committed: Int64?, _ begin: Int64, _ end: Int64) -> GroupPositions.Position
    {
        .init(partition: .init(topic: "t", partition: number), committed: committed, begin: begin, end: end)
    }

    @Test("A lag that was not counted in time is a bound")
    func uncounted() {
        var one = position(0, 5, 0, 6)
        #expect(GroupJudgement.lag("t", [one], isRetry: false, isServed: false).detail.hasPrefix("1 wait,"))
        one.isUncounted = true
        #expect(GroupJudgement.lag("t", [one], isRetry: false, isServed: false).detail.hasPrefix("at most 1 wait,"))
        let group = GroupJudgement.members(
            "g", GroupDescription(state: "Empty", members: []), GroupPositions(partitions: [one]))
        #expect(group.detail.contains("and at most 1 records wait"), "\(group.detail)")
    }

    @Test("Lag is counted from the committed offset, or from the beginning, and the worst partition is named")
    func lag() {
        let check = GroupJudgement.lag(
            "t", [position(0, 5, 0, 7), position(1, nil, 10, 40)], isRetry: false, isServed: true)
        #expect(check.verdict == .passed && check.detail == "32 wait, most of them in partition 1: 30")
        #expect(
            GroupJudgement.lag("t", [position(0, 5, 0, 7)], isRetry: false, isServed: false).verdict == .warning)
        #expect(GroupJudgement.lag("t", [position(0, 7, 0, 7)], isRetry: true, isServed: false).verdict == .passed)
    }

    @Test("Records deleted unread are named with their number, and the step that worker and console name")
    func lagOfLostRecords() {
        var overtaken = position(3, 5, 12, 40)
        overtaken.lost = 7
        func check(isServed: Bool) -> Check {
            GroupJudgement.lag("t", [position(0, 5, 0, 7), overtaken], isRetry: false, isServed: isServed)
        }
        #expect(check(isServed: false).detail == "7 records of t/3 were deleted before they were read")
        // A worker may have read some of them before.
        let check = check(isServed: true)
        #expect(check.verdict == .failed && check.detail == "up to 7 records of t/3 were deleted before they were read")
        #expect(check.fix == FindingKey.recordsLost.entry.step)
    }

    @Test("Where offsets were lost, the lag is unknown, and no retry counts as overdue")
    func lagWithoutOffsets() {
        var late = position(1, nil, 0, 40)
        late.overdue = 40
        func check(isLost: Bool) -> Check {
            GroupJudgement.lag("t", [position(0, 5, 0, 7), late], isRetry: true, isServed: true, isLost: isLost)
        }
        #expect(check(isLost: true).detail.hasPrefix("not known: 40 offsets lie in 1 partition without an offset"))
        #expect(check(isLost: false).detail.contains("overdue"))
    }

    @Test("An open transaction is named, and records behind it are held back, not lost")
    func openTransaction() {
        let place = TopicPartition(topic: "t", partition: 3)
        let open = OpenTransaction(
            partition: place, offset: 4, end: 9, since: WallTime(milliseconds: 0), servers: "b:1")
        let checks = GroupJudgement.transactions([open])
        #expect(checks.map(\.verdict) == [.warning] && checks.first?.subject == "t/3")
        #expect(checks.first?.fix?.contains("--start-offset 4") == true)
        let position = GroupPositions.Position(partition: place, committed: 4, begin: 0, stable: 4, end: 9)
        #expect(position.lag == 5 && position.held == 5)
    }

    @Test("Retries past their time are overdue, even with a worker")
    func overdue() {
        var late = position(0, 5, 0, 66)
        late.overdue = 61
        let check = GroupJudgement.lag("t", [late], isRetry: true, isServed: true)
        #expect(check.verdict == .warning && check.detail == "61 wait, 61 of them are overdue")
        #expect(check.fix?.contains("outage") == true)
    }

    private static func page(_ group: String, isMember: Bool = true, _ reasons: [Finding]) -> String {
        #"{"reasons":[\#(reasons.map(\.json.compact).joined(separator: ","))],"warnings":[],"outages":[],"version":"1","#
            + #""inFlight":0,"inFlightLimit":0,"oldestSeconds":0,"services":[],"endToEnd":[],"#
            + #""group":{"name":"\#(group)","member":\#(isMember)},"assignment":{"partitions":1}}"#
    }

    private func workers(_ page: String, status: Int = 200, and others: [String] = []) throws -> [WorkerSurvey.Worker] {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 \(status) X\r\nContent-Length: \(page.utf8.count)\r\n\r\n\(page)")
        }
        defer { server.stop() }
        return WorkerSurvey.ask(["127.0.0.1:\(server.port)"] + others, group: "g")
    }

    @Test("A worker that holds fails with its own finding, and one that does not answer is no proof")
    func workers() throws {
        let rejected = Finding(outage: "dead-letter-breaker", "all is rejected", step: "look at it")
        let silent = try LoopbackSocket.unusedPort()
        let asked = try workers(Self.page("g", [rejected]), and: ["127.0.0.1:\(silent)"])
        let checks = GroupJudgement.workers(asked, "g", areNamed: false)
        #expect(checks.map(\.verdict) == [.failed, .warning])
        #expect(checks.last?.fix?.hasPrefix("name the workers' admin ports") == true)
        let named = GroupJudgement.workers(asked, "g", areNamed: true)
        #expect(named.last?.fix?.hasPrefix("see whether it runs") == true)
        #expect(checks.first?.detail == "all is rejected" && checks.first?.fix == "look at it")
        let one = try workers(Self.page("g", []))
        #expect(GroupJudgement.workers(one, "g", areNamed: false).map(\.verdict) == [.passed])
        let older = GroupJudgement.workers(
            try workers("there is no such page\n", status: 404), "g", areNamed: false)
        #expect(older.map(\.verdict) == [.warning] && older.first?.detail.contains("older version") == true)
        #expect(GroupJudgement.workers([], "g", areNamed: false).map(\.verdict) == [.skipped])
        let unasked = GroupJudgement.unasked(one, of: 3, areNamed: false)
        #expect(unasked?.verdict == .warning && unasked?.detail.hasPrefix("2 of 3 members") == true)
        #expect(GroupJudgement.unasked(one, of: 1, areNamed: false) == nil)
        #expect(GroupJudgement.unasked(one, of: 3, areNamed: true) == nil)
    }

    @Test("A worker names its group: another group's is not blamed, nor one that is just joining")
    func groups() throws {
        func checks(_ group: String, isMember: Bool, _ reason: Finding) throws -> [Check] {
            let found = try workers(Self.page(group, isMember: isMember, [reason]))
            let empty = GroupDescription(state: "Empty", members: [])
            let positions = GroupPositions(partitions: [position(0, 0, 0, 3)])
            return [GroupJudgement.members("g", empty, positions, found)]
                + GroupJudgement.workers(found, "g", areNamed: false)
        }
        let other = try checks("h", isMember: true, Finding(outage: "credentials", "it is refused", step: "look"))
        #expect(other.map(\.verdict) == [.warning, .warning])
        #expect(other[0].detail == "no worker runs, and 3 records wait")
        #expect(other[1].detail == "is in the group h, not in g of these settings")
        #expect(other[0].fix == "see the line `worker`")
        let starting = Finding(.starting, "it starts")
        let joining = try checks("g", isMember: false, starting)
        #expect(joining.map(\.verdict) == [.warning, .warning] && joining[0].detail.contains("no member yet"))
        for refused in [
            try checks("g", isMember: false, Finding(.groupRefuses, "it may not", step: "change it")),
            try checks("g", isMember: true, starting),
        ] {
            #expect(refused.map(\.verdict) == [.failed, .failed])
        }
    }

    @Test("Workers are on the hosts of the group's members, on loopback only this machine's, or as specified")
    func addresses() {
        func addresses(_ hosts: [String], _ listen: String?, named: [String]? = nil) -> [String] {
            WorkerSurvey.addresses(
                of: hosts.map { .init(clientID: "c", host: $0, partitions: []) }, named: named,
                listen: listen.map { ($0, 9_464) })
        }
        #expect(addresses(["/10.9.8.7", "/10.9.8.6", "/10.9.8.7"], "0.0.0.0") == ["10.9.8.6:9464", "10.9.8.7:9464"])
        #expect(addresses(["/127.0.0.1"], "127.0.0.1") == ["127.0.0.1:9464"])
        #expect(addresses(["/10.9.8.7"], "127.0.0.1") == [])
        #expect(addresses(["/10.9.8.7"], nil) == [])
        #expect(addresses(["/10.9.8.7"], nil, named: ["a:1"]) == ["a:1"])
    }

    @Test("An admin port chosen by the system is taken from the name of the group's member")
    func freePorts() {
        func addresses(_ members: [(String, String)], _ host: String, port: UInt16 = 0) -> [String] {
            WorkerSurvey.addresses(
                of: members.map { .init(clientID: $0.0, host: $0.1, partitions: []) }, named: nil, listen: (host, port))
        }
        let members = [
            ("herald-admin-40001", "/127.0.0.1"), ("herald-admin-40002", "/127.0.0.1"), ("other", "/127.0.0.1"),
        ]
        #expect(addresses(members, "127.0.0.1") == ["127.0.0.1:40001", "127.0.0.1:40002"])
        let others = ["127.0.0.1:40001", "127.0.0.1:40002", "127.0.0.1:9464"]
        #expect(addresses(members, "127.0.0.1", port: 9_464) == others, "others have the settings' port")
        #expect(addresses([("herald-admin-40001", "/10.9.8.7")], "0.0.0.0") == ["10.9.8.7:40001"])
        #expect(addresses([("herald-admin-40001", "/10.9.8.7")], "127.0.0.1") == [], "it serves its own machine alone")
        for name in ["herald", "herald-admin-", "herald-admin-0", "herald-admin-70000", "admin-1", "herald-admin-1x"] {
            #expect(AdminPortName.port(in: name) == nil, "\(name)")
        }
        #expect(AdminPortName.port(in: AdminPortName.clientID("my-admin-7", port: 65_535)) == 65_535)
    }

    @Test("A group behind the end of its partition is a warning")
    func recreated() {
        let renewed = GroupJudgement.lag("t", [position(3, 50, 0, 20)], isRetry: false, isServed: true)
        #expect(renewed.verdict == .warning && renewed.detail.contains("recreated"))
    }

    @Test("A group without members warns when records wait, one with members when a partition has no owner")
    func members() {
        func verdict(_ state: String, _ owned: [[Int32]], end: Int64) -> Verdict {
            let description = GroupDescription(
                state: state,
                members: owned.map { numbers in
                    .init(clientID: "c", host: "h", partitions: numbers.map { .init(topic: "t", partition: $0) })
                })
            return GroupJudgement.members(
                "g", description, GroupPositions(partitions: [position(0, 0, 0, end), position(1, 0, 0, 0)])
            ).verdict
        }
        #expect(verdict("Empty", [], end: 0) == .passed)
        #expect(verdict("Dead", [], end: 1) == .warning)
        #expect(verdict("Stable", [[0], [1]], end: 1) == .passed)
        #expect(verdict("Stable", [[0]], end: 0) == .warning)
        #expect(verdict("PreparingRebalance", [[]], end: 0) == .warning)
    }

    @Test(
        "Credentials are proved only by an answer that a stranger does not get",
        arguments: [
            (403, 405, Verdict.passed), (401, 200, .passed), (405, 405, .warning), (200, 200, .warning),
            (403, 403, .failed), (405, 401, .failed),
        ])
    func credentials(stranger: Int, caller: Int, verdict: Verdict) {
        let check = CredentialJudgement.check(
            stranger: .response(.init(status: stranger)), caller: caller, statuses: .usual)
        #expect(check.verdict == verdict)
    }

    @Test(
        "Clocks may be 5 seconds apart, a minute is too much, in both directions",
        arguments: [
            (Int64(0), Verdict.passed), (5, .passed), (6, .warning), (-6, .warning), (60, .warning), (61, .failed),
            (-3_600, .failed),
        ])
    func clock(seconds: Int64, verdict: Verdict) {
        let theirs = WallTime(milliseconds: 784_111_777_000)
        let check = ClockJudgement.check(
            date: "Sun, 06 Nov 1994 08:49:37 GMT", now: theirs.advanced(by: seconds * .seconds(1)))
        #expect(check.verdict == verdict, "\(check.detail)")
    }

    @Test("An invalid date is reported as such instead of blaming a clock")
    func noDate() {
        #expect(ClockJudgement.check(date: "yesterday", now: WallTime(milliseconds: 0)).verdict == .skipped)
    }
}
