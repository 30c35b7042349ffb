import Foundation
import HeraldCore
import HeraldEvents
import HeraldText
import HeraldTime
import TestSupport
import Testing

@testable import HeraldAdmin
@testable import HeraldCampaigns
@testable import HeraldConsole
@testable import HeraldKafka
@testable import HeraldTools

@Suite("The verdict")
struct VerdictTests {
    /// 2026-11-23T02:14:00Z.
    private static let now = WallTime(milliseconds: 1_795_400_040_000)
    private static let breaker = Finding(
        outage: "breaker", "most calls to the backend fail, the latest with status 503",
        step: "check the backend")

    private static let growing = Finding(
        .lagGrowing, "the lag grows by 5 offsets each second", step: "more events arrive than the backend accepts")

    private static let few = Finding(
        .tooFewBrokers,
        "brokers 2 (b:1), 3 (c:1) do not answer, so 18 partitions cannot be written or read (results/0 and 17 more)")

    private static let cutOff = Finding(.brokersUnreachable, "no broker answers (x: y)")

    private static func minutesAgo(_ minutes: Int64) -> WallTime { now.advanced(by: -minutes * .minutes(1)) }

    private static func worker(
        _ address: String = "a:1", _ reasons: [Finding] = [], warnings: [Finding] = [],
        _ change: (inout WorkerStatus) -> Void = { _ in }
    ) -> WorkerObservation {
        var status = WorkerStatus()
        (status.reasons, status.warnings) = (reasons, warnings)
        change(&status)
        return WorkerObservation(address: address, state: .answered(status), at: MonotonicTime(nanoseconds: 0))
    }

    private static func worker(_ reasons: [Finding]) -> WorkerObservation { worker("a:1", reasons) }

    private static func silent(
        _ address: String = "a:1", isOlder: Bool = false, reason: String = "no route"
    ) -> WorkerObservation {
        WorkerObservation(
            address: address, state: .silent(.init(reason: reason, isOlder: isOlder)),
            at: MonotonicTime(nanoseconds: 0))
    }

    private static func partition(
        _ number: Int32, lag: Int64 = 0, delay: String? = nil, overdue: Int64 = 0, hasMember: Bool = true,
        oldest: WallTime? = nil, stillSince: WallTime? = nil
    ) -> GroupObservation.Partition {
        GroupObservation.Partition(
            place: TopicPartition(topic: delay.map { "retry.\($0)" } ?? "notifications", partition: number),
            delay: delay, lag: lag, overdue: overdue, hasMember: hasMember, oldest: oldest, stillSince: stillSince)
    }

    private static func group(
        members: Int = 1, state: String = "Stable", _ partitions: [GroupObservation.Partition] = [partition(0)]
    ) -> GroupObservation {
        var group = GroupObservation(
            at: now, state: state,
            members: (0..<members).map { .init(clientID: "herald-\($0)", host: "/10.0.0.1", partitions: []) },
            partitions: partitions)
        group.name = "herald"
        return group
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var situation: Situation
        var severity: Finding.Severity
        var sentence: String
        var section: String?
        var others: [String] = []

        init(
            _ description: String, _ severity: Finding.Severity, _ sentence: String, section: String? = nil,
            others: [String] = [], workers: [WorkerObservation] = [],
            group: GroupKnowledge = .known(VerdictTests.group()),
            deadLetters: Int = 0, inDoubt: Int = 0, calls: [String: Double] = [:], lastAt: WallTime? = nil,
            rate: Double = 0
        ) {
            testDescription = description
            self.severity = severity
            self.sentence = sentence
            self.section = section
            self.others = others
            situation = Situation(
                now: VerdictTests.now, workers: workers, group: group,
                deadLetters: [DeadLetterCause(count: deadLetters, mayHaveArrived: inDoubt)],
                calls: calls.isEmpty
                    ? [:]
                    : [
                        "apns": ServiceCalls(
                            ends: calls, lastAt: lastAt.map { at in calls.mapValues { _ in at } } ?? [:])
                    ],
                notificationsPerSecond: rate)
        }
    }

    private static let quiet = [
        Case(
            "nothing was asked yet", .unknown, "Looking: the workers and the brokers have not answered yet",
            group: .unasked),
        Case(
            "notifications end", .good, "Delivering: 1\u{A0}204 notifications a second", workers: [worker()],
            rate: 1_204.3),
        Case("nothing to do", .good, "Delivering: nothing waits", workers: [worker()]),
        Case(
            "the brokers are not asked yet, and workers are ready", .good, "Delivering", workers: [worker()],
            group: .unasked),
        Case(
            "no admin port is known, so nobody knows", .unknown,
            "Not known whether the workers deliver: none of their admin ports is known here; as far as Kafka shows, the "
                + "group has 1 member, and nothing waits", section: "first-look"),
        Case(
            "no admin port is known, and something is wrong", .warn, "Some dead letters: 3 of the last hour are open",
            others: [
                "Not known whether the workers deliver: none of their admin ports is known here; as far as Kafka shows, "
                    + "the group has 1 member, and nothing waits"
            ], deadLetters: 3),
        Case(
            "two of three brokers are dead, and all workers say so", .bad,
            "Too few brokers: brokers 2 (b:1), 3 (c:1) do not answer, so 18 partitions cannot be written or read "
                + "(results/0 and 17 more)", section: "heraldtoofewbrokers",
            workers: [worker("a:1", [few]), worker("b:1", [few])]),
        Case(
            "two of three brokers are dead, and nobody else can say how the group stands", .bad,
            "Too few brokers: brokers 2 (b:1), 3 (c:1) do not answer, so 18 partitions cannot be written or read "
                + "(results/0 and 17 more)", section: "heraldtoofewbrokers",
            workers: [worker([few])],
            group: .unreachable("brokers 2 (b:1), 3 (c:1) do not answer", last: nil)),
        Case(
            "nothing is committed", .bad,
            "No progress: nothing was committed for 45 s, and 7 events in memory wait for it",
            section: "heraldcommitsstall",
            workers: [
                worker([
                    Finding(
                        .noProgress, "nothing was committed for 45 s, and 7 events in memory wait for it",
                        step: "look at the brokers")
                ])
            ]),
        Case(
            "workers are not asked yet", .unknown, "Looking: the workers and the brokers have not answered yet",
            workers: [WorkerObservation(address: "a:1", state: .unasked, at: MonotonicTime(nanoseconds: 0))]),
        Case(
            "this user may not ask for the group", .good, "Delivering",
            others: ["Nothing tells of the group: no"],
            workers: [worker()], group: .untold("no", last: nil)),
        Case(
            "nobody may be asked", .unknown, "Looking: the workers and the brokers have not answered yet",
            others: ["Nothing tells of the group: no"], group: .untold("no", last: nil)),
        Case(
            "events are published wrongly", .warn,
            "Events were published wrongly: records of notifications have no key (notifications/2/1041), so that their "
                + "order is not kept",
            section: "heraldpublisherfaults",
            workers: [
                worker(warnings: [
                    Finding(
                        .publisherFaults,
                        "records of notifications have no key (notifications/2/1041), so that their order is not kept",
                        step: "have their publisher set the event's user as the key")
                ])
            ]),
        Case(
            "a push service that a worker warns of, which its calls tell better", .good, "Delivering: nothing waits",
            workers: [worker(warnings: [Finding(.pushServiceFailing, "all calls failed")])]),
        Case(
            "a transaction that does not end, by a worker's word", .warn,
            "A transaction is open: partition notifications/3 can be read up to offset 120 alone",
            section: "heraldbehindopentransaction",
            workers: [
                worker(warnings: [
                    Finding(
                        .behindOpenTransaction, "partition notifications/3 can be read up to offset 120 alone",
                        step: "abort it")
                ])
            ]),
        Case(
            "one of two workers is older", .warn,
            "A worker is older: 1 of 2 workers does not say how they are at b:1 (no route)",
            section: "first-look", workers: [worker("a:1"), silent("b:1", isOlder: true)]),
    ]

    private static let outages = [
        Case(
            "an outage of all", .bad,
            "Outage: most calls to the backend fail, the latest with status 503", section: "outage-breaker",
            workers: [worker("a:1", [breaker]), worker("b:1", [breaker])]),
        Case(
            "an outage that says since when", .bad,
            "Outage since 02:10 UTC: most calls to the backend fail, the latest with status 503",
            workers: [
                worker([
                    {
                        var since = breaker
                        since.since = minutesAgo(4)
                        return since
                    }()
                ])
            ], group: .known(group([partition(0, lag: 1)]))),
        Case(
            "an outage of one of two", .warn,
            "Outage: 1 of 2 workers (b:1): most calls to the backend fail, the latest with status 503",
            section: "outage-breaker", workers: [worker("a:1"), worker("b:1", [breaker])]),
        Case(
            "two opinions of workers that do not deliver", .bad,
            "Outage: a:1: most calls to the backend fail, the latest with status 503",
            others: ["Starting: b:1: the worker is starting and its lanes consume no records yet"],
            workers: [
                worker("a:1", [breaker]),
                worker("b:1", [Finding(.starting, "the worker is starting and its lanes consume no records yet")]),
            ]),
        Case(
            "a reason of a newer worker", .bad, "Eclipse: the moon is in the way", section: "moon",
            workers: [
                worker([
                    Finding(
                        key: "moon", .bad, title: "Eclipse", "the moon is in the way", step: "wait", section: "moon")
                ])
            ]),
        Case(
            "stuck partitions are no news in an outage", .bad,
            "Outage: most calls to the backend fail, the latest with status 503",
            workers: [worker([breaker])],
            group: .known(group([partition(3, lag: 9_000, stillSince: minutesAgo(9))]))),
        Case(
            "an outage in which only one of two workers has anything to call", .bad,
            "Outage: most calls to the backend fail, the latest with status 503",
            workers: [worker("a:1", [breaker]), worker("b:1", warnings: [idleBreaker])]),
        Case(
            "an outage with nothing to call", .warn, "Outage: most calls fail; nothing waits, and the next event tries",
            workers: [worker(warnings: [idleBreaker])]),
    ]

    private static let idleBreaker: Finding = {
        var finding = breaker
        (finding.severity, finding.what) = (.warn, "most calls fail; nothing waits, and the next event tries")
        return finding
    }()

    private static let absences = [
        Case(
            "nobody runs, and events wait", .bad, "No worker runs: 9\u{A0}000 events wait, the oldest since 02:10 UTC",
            section: "heralddown",
            group: .known(
                group(
                    members: 0, state: "Empty",
                    [
                        partition(0, lag: 8_999, oldest: minutesAgo(4)), partition(1, lag: 1, oldest: minutesAgo(1)),
                        partition(0, lag: 3, delay: "10m", oldest: minutesAgo(50)),
                    ]))),
        Case(
            "since another day", .bad, "No worker runs: 1 event waits, the oldest since 2026-11-22 02:14 UTC",
            group: .known(group(members: 0, state: "Empty", [partition(0, lag: 1, oldest: minutesAgo(1_440))]))),
        Case(
            "nobody runs, and only retries wait", .bad, "No worker runs: 2 retries wait, the oldest since 02:05 UTC",
            group: .known(
                group(members: 0, state: "Empty", [partition(0, lag: 2, delay: "10s", oldest: minutesAgo(9))]))),
        Case(
            "nobody runs, and nothing waits", .warn, "No worker runs: nothing waits", section: "heralddown",
            group: .known(group(members: 0, state: "Dead"))),
        Case(
            "the named workers are silent, and the group is empty", .bad, "No worker runs: 5 events wait",
            workers: [silent()], group: .known(group(members: 0, state: "Empty", [partition(0, lag: 5)]))),
        Case(
            "one of two does not answer", .warn, "A worker is silent: 1 of 2 workers does not answer at b:1 (no route)",
            section: "heraldworkerdown", workers: [worker("a:1"), silent("b:1")]),
        Case(
            "none answers, and the group has members", .warn, "A worker is silent: no worker answers at a:1 (no route)",
            section: "heraldworkerdown", workers: [silent()]),
        Case(
            "two are silent, each in its own way", .warn,
            "A worker is silent: 2 of 3 workers do not answer at b:1 (refused), c:1 (timeout)",
            workers: [worker("a:1"), silent("b:1", reason: "refused"), silent("c:1", reason: "timeout")]),
        Case(
            "two are silent in the same way", .warn,
            "A worker is silent: no worker answers at b:1, c:1 (no route)", workers: [silent("b:1"), silent("c:1")]),
        Case(
            "all workers were killed while calls failed", .warn,
            "A worker is silent: no worker answers at a:1 (no route)", workers: [silent()], calls: ["transient": 30]),
        Case(
            "a worker that starts is there", .warn, "Starting: the worker is starting", section: "starting",
            workers: [worker([Finding(.starting, "the worker is starting")])],
            group: .known(group(members: 0, state: "Empty", [partition(0, lag: 5)]))),
    ]

    private static let brokers = [
        Case(
            "no broker answers anybody", .bad, "Brokers unreachable: no broker answers at k:9092",
            section: "heraldbrokersunreachable",
            workers: [
                worker([cutOff])
            ], group: .unreachable("no broker answers at k:9092", last: group())),
        Case(
            "no broker answers the console, and no worker is known", .bad,
            "Brokers unreachable: no broker answers at k:9092", workers: [silent()],
            group: .unreachable("no broker answers at k:9092", last: nil)),
        Case(
            "no broker answers the console alone", .warn,
            "The console reaches no broker: gone", workers: [worker()],
            group: .unreachable("gone", last: group())),
        Case(
            "a worker alone is cut off", .warn, "Brokers unreachable: 1 of 2 workers (b:1): no broker answers (x: y)",
            section: "heraldbrokersunreachable",
            workers: [
                worker("a:1"),
                worker("b:1", [cutOff]),
            ]),
        Case(
            "partitions without a leader", .bad, "Partitions have no leader: notifications/3 has no leader",
            section: "heraldpartitionswithoutleader", workers: [worker()],
            group: .known(
                {
                    var found = group()
                    found.leaderless = [TopicPartition(topic: "notifications", partition: 3)]
                    return found
                }())),
    ]

    private static let loss = "Records are lost: 79 records of notifications/3 were deleted before they were read"
    /// A worker may have read some of them before.
    private static let bound = loss.replacing("79", with: "up to 79")

    private static func overtaken(since: WallTime? = now.advanced(by: .minutes(-9))) -> GroupObservation.Partition {
        var partition = partition(3, lag: 4, stillSince: since)
        partition.lost = 79
        return partition
    }

    private static let losses = [
        Case(
            "records were deleted unread, and no worker runs", .bad, "No worker runs: 4 events wait", others: [loss],
            group: .known(group(members: 0, [overtaken()]))),
        Case(
            "records were deleted unread, and no worker's word is known", .bad, bound, section: "heraldrecordslost",
            others: [
                "Not known whether the workers deliver: none of their admin ports is known here; as far as Kafka shows, "
                    + "the group has 1 member, and 4 events wait"
            ], group: .known(group([overtaken()]))),
        Case(
            "one of two workers has found out what is lost of a partition of which Kafka shows a bound", .bad,
            loss.replacing("79", with: "2"),
            workers: [
                worker(
                    "a:1",
                    [
                        Finding(
                            .recordsLost, "2 records of notifications/3 were deleted", place: ["notifications/3"],
                            numbers: ["records": 2])
                    ]), worker("b:1", []),
            ], group: .known(group([overtaken()]))),
        Case(
            "records were deleted, and all workers answer and have them in memory", .good, "Delivering: 4 events wait",
            workers: [worker()], group: .known(group([overtaken(since: nil)]))),
    ]

    private static let dead = "brokers 1 (a:1), 2 (b:1) do not answer, and the group's coordinator is among them"

    private static let tooFew = [
        Case(
            "two of three brokers are dead, and no worker's word is known", .bad, "Too few brokers: " + dead,
            section: "heraldtoofewbrokers", group: .tooFewBrokers(dead, last: group())),
        Case(
            "two of three brokers are dead, and a worker knows no more", .bad, "Too few brokers: " + dead,
            workers: [
                worker([cutOff])
            ], group: .tooFewBrokers(dead, last: group())),
        Case(
            "two of three brokers are dead, and one of two workers says so", .bad, "Too few brokers: " + dead,
            workers: [worker("a:1", [few]), worker("b:1", [cutOff])],
            group: .tooFewBrokers(dead, last: group())),
        Case(
            "two of three brokers are dead, and workers have not seen it yet", .warn,
            "Brokers are silent: " + dead + "; workers say that they deliver", workers: [worker()],
            group: .tooFewBrokers(dead, last: group())),
    ]

    private static let partitions = [
        Case(
            "one partition is stuck", .bad, "Partition 3 is stuck since 02:12 UTC: 9\u{A0}000 behind in notifications",
            section: "heraldlag", workers: [worker()],
            group: .known(group([partition(0), partition(3, lag: 9_000, stillSince: minutesAgo(2))])), rate: 100),
        Case(
            "it has not been still for long", .good, "Delivering: 9\u{A0}000 events wait", workers: [worker()],
            group: .known(group([partition(3, lag: 9_000, stillSince: now.advanced(by: .seconds(-50)))]))),
        Case(
            "two are stuck, of which no worker tells", .bad,
            "2 partitions are stuck since 02:04 UTC: 12 behind in notifications/1, notifications/0",
            others: [
                "Not known whether the workers deliver: none of their admin ports is known here; as far as Kafka shows, the "
                    + "group has 1 member, and 12 events wait"
            ],
            group: .known(
                group([
                    partition(0, lag: 5, stillSince: minutesAgo(2)), partition(1, lag: 7, stillSince: minutesAgo(10)),
                ]))),
        Case(
            "overdue retries are stuck", .bad, "Partition 0 is stuck since 02:12 UTC: 4 behind in retry.10s",
            workers: [worker()],
            group: .known(group([partition(0, lag: 9, delay: "10s", overdue: 4, stillSince: minutesAgo(2))]))),
        Case(
            "nobody has a partition", .bad,
            "Partitions have no worker: no worker has notifications/3: 7 events wait there",
            section: "heraldrebalances", workers: [worker()],
            group: .known(group([partition(3, lag: 7, hasMember: false)]))),
        Case(
            "a rebalance", .warn,
            "Partitions move between workers: the group herald moves its partitions (PreparingRebalance)",
            workers: [worker()],
            group: .known(group(state: "PreparingRebalance", [partition(3, lag: 7, hasMember: false)]))),
    ]

    private static let numbers = [
        Case(
            "open dead letters", .warn, "Some dead letters: 12 of the last hour are open",
            section: "heralddeadletters", workers: [worker()], deadLetters: 12),
        Case(
            "dead letters that may have arrived", .warn,
            "Some dead letters: 12 of the last hour are open; 7 may have arrived: a call got no answer",
            section: "calls-without-an-answer", workers: [worker()], deadLetters: 12, inDoubt: 7),
        Case(
            "dead letters that may have arrived, without a worker's word", .warn,
            "Some dead letters: 12 of the last hour are open; 7 may have arrived: a call got no answer",
            section: "calls-without-an-answer",
            others: [
                "Not known whether the workers deliver: none of their admin ports is known here; as far as Kafka shows, "
                    + "the group has 1 member, and nothing waits"
            ], deadLetters: 12, inDoubt: 7),
        Case(
            "calls that timed out a while ago, and nothing waits for a retry", .good, "Delivering: nothing waits",
            workers: [worker()], calls: ["delivered": 75, "timeout": 8, "reset": 4], lastAt: minutesAgo(1)),
        Case(
            "dead letters beside an outage", .bad,
            "Outage: most calls to the backend fail, the latest with status 503",
            others: ["Some dead letters: 200 of the last hour are open"], workers: [worker([breaker])],
            deadLetters: 200),
        Case(
            "many calls fail", .warn, "Some calls fail: 25 % of apns's calls fail",
            section: "heraldcallsfail",
            workers: [worker()], calls: ["delivered": 75, "transient": 20, "timeout": 5]),
        Case(
            "calls that may have arrived", .warn,
            "Some calls fail: 25 % of apns's calls fail", section: "heraldcallsfail",
            others: ["Calls get no answer: 12 % of apns's calls time out or are cut off"],
            workers: [worker()], calls: ["delivered": 75, "transient": 13, "timeout": 8, "reset": 4]),
        Case(
            "calls that may have arrived, in an outage", .bad,
            "Outage: most calls to the backend fail, the latest with status 503",
            others: ["Calls get no answer: 80 % of apns's calls time out or are cut off"],
            workers: [worker([breaker])],
            calls: ["delivered": 20, "timeout": 80]),
        Case(
            "a rate that was found", .warn,
            "The backend wants fewer calls: 10 % of apns's calls are answered with 429; the backend bears about 80 a second",
            section: "heraldthrottled",
            workers: [
                worker("a:1") { $0.services = [.init(pns: "apns", callsPerSecond: 50)] },
                worker("b:1") { $0.services = [.init(pns: "apns", callsPerSecond: 30)] },
            ],
            calls: ["delivered": 90, "throttled": 10]),
        Case(
            "refused credentials", .warn,
            "Some calls are unauthorised: 2 % of apns's calls are refused with 401 or 403",
            section: "heraldcredentialsrefused", workers: [worker()], calls: ["delivered": 98, "credentials": 2]),
        Case(
            "too few calls to say anything", .good, "Delivering: nothing waits", workers: [worker()],
            calls: ["timeout": 0.2]),
        Case(
            "a lag that grows", .warn, "The lag grows: the lag grows by 5 offsets each second", section: "heraldlag",
            workers: [worker(warnings: [growing])], group: .known(group([partition(0, lag: 9_000)])), rate: 100),
        Case(
            "a lag that grew, and is seconds of work", .good, "Delivering: 100 notifications a second",
            workers: [worker(warnings: [growing])], group: .known(group([partition(0, lag: 900)])), rate: 100),
        Case(
            "a lag that grew, and is gone", .good, "Delivering: nothing waits", workers: [worker(warnings: [growing])]),
        Case(
            "an event of two hours ago", .warn, "An event is late: the oldest has waited since 00:14 UTC",
            section: "heraldoldestevent", workers: [worker { $0.oldestSeconds = 7_200 }]),
        Case(
            "a rate that cannot be", .good,
            "Delivering: 1\u{A0}000\u{A0}000\u{A0}000\u{A0}000\u{A0}000 notifications a second", workers: [worker()],
            calls: ["delivered": .infinity, "throttled": .infinity], rate: .infinity),
        Case(
            "an age that cannot be", .good, "Delivering: nothing waits", workers: [worker { $0.oldestSeconds = 1e300 }]),
    ]

    @Test("names the fault, its beginning, and the runbook's section", arguments: quiet + outages + absences)
    func workers(_ example: Case) { check(example) }

    @Test("distinguishes brokers, partitions and numbers", arguments: brokers + tooFew + partitions + numbers + losses)
    func kafka(_ example: Case) { check(example) }

    private func check(_ example: Case) {
        let verdict = Verdict(example.situation)
        #expect(verdict.first.sentence(now: Self.now) == example.sentence)
        #expect(verdict.first.finding.severity == example.severity)
        if let section = example.section { #expect(verdict.first.finding.section == section) }
        #expect(verdict.others.map { $0.sentence(now: Self.now) } == example.others)
    }

    @Test("names the failing calls before the lag they cause, once for all push services")
    func causeBeforeConsequence() {
        let silent = Finding(.backendUnreachable, "the last 5 calls had no answer (timeout)")
        for workers in [
            [Self.worker("a:1", warnings: [Self.growing]), Self.worker("b:1", warnings: [Self.growing])],
            [Self.worker("a:1", [silent]), Self.worker("b:1", warnings: [Self.growing])],
        ] {
            var situation = Situation(
                now: Self.now, workers: workers, group: .known(Self.group([Self.partition(0, lag: 2_600)])),
                calls: [
                    "apns": ServiceCalls(ends: ["delivered": 40, "timeout": 60]),
                    "gcm": ServiceCalls(ends: ["delivered": 38, "timeout": 62]),
                    "wns": ServiceCalls(ends: ["delivered": 25, "timeout": 75]),
                ], notificationsPerSecond: 20)
            situation.lagGrowth = 16.2
            let verdict = Verdict(situation)
            #expect(
                verdict.first.sentence(now: Self.now)
                    == "Some calls fail: 60 to 75 % of the calls for apns, gcm and wns fail; "
                    + "its consequence: the lag grows by 16 events each second")
            #expect(verdict.first.waiting == 2_600 && verdict.first.finding.section == "heraldcallsfail")
            #expect(
                verdict.others.map { $0.sentence(now: Self.now) } == [
                    "Calls get no answer: 60 to 75 % of the calls for apns, gcm and wns time out or are cut off"
                ])
        }
    }

    @Test("has the console's own figure of the lag, and none when the lag shrinks")
    func ownLag() {
        func first(_ growth: Double) -> String {
            var situation = Situation(
                now: Self.now, workers: [Self.worker(warnings: [Self.growing])],
                group: .known(Self.group([Self.partition(0, lag: 9_000)])))
            situation.lagGrowth = growth
            return Verdict(situation).first.sentence(now: Self.now)
        }
        #expect(first(16) == "The lag grows: the lag grows by 16 events each second")
        #expect(first(-3) == "Delivering: 9\u{A0}000 events wait")
    }

    @Test("tells one cause once, with what follows from it, and a warning explains nothing that is worse")
    func folded() {
        let findings = [
            Finding(.noProgress, "nothing was committed for 45 s"), Finding(.commitsFailing, "commits fail"),
            Finding(.tooFewBrokers, "brokers 2, 3 do not answer"), Finding(.recordRefused, "1 record was refused"),
        ].map { ToldFinding($0) }
        let told = Verdict.folded(findings)
        #expect(told.map(\.key) == ["too-few-brokers", "record-refused"])
        #expect(told[0].consequences.map(\.key) == ["no-progress", "commits-failing"])
        var mild = findings
        mild[2].finding.severity = .warn
        #expect(Verdict.folded(mild).map(\.key) == ["commits-failing", "too-few-brokers", "record-refused"])
        let outage = ToldFinding(Finding(outage: "breaker", "most calls fail", step: "look"))
        let dead = ToldFinding(.pushServiceFailing, "100 % of wns's calls fail")
        #expect(Verdict.folded([dead, outage]).map(\.key) == ["outage-breaker"])
    }

    @Test("has titles of six words at most")
    func titles() {
        for key in FindingKey.allCases {
            #expect(key.entry.title.split(separator: " ").count <= 6, "\(key.entry.title)")
        }
    }

    @Test("names all push services without deliveries in one finding")
    func deadServices() {
        var situation = Self.situation(ServiceCalls(ends: ["transient": 12]), retrying: 9)
        situation.calls["apns"] = ServiceCalls(ends: ["transient": 30])
        let verdict = Verdict(situation)
        #expect(
            verdict.first.sentence(now: Self.now)
                == "apns and wns deliver nothing: 100 % of the calls for apns and wns fail")
        #expect(verdict.others.isEmpty && verdict.first.key == "push-service-failing")
    }

    @Test("says how a push service's calls end that are all rejected, with the worker's status and step")
    func rejectedService() {
        var situation = Self.situation(ServiceCalls(ends: ["rejected": 19]), retrying: 0)
        #expect(Verdict(situation).first.key != "push-service-failing", "that may be the events' own fault")
        situation = Self.situation(ServiceCalls(ends: ["rejected": 20]), retrying: 0)
        situation.workers = [
            Self.worker(warnings: [
                Finding(
                    .pushServiceFailing, "all calls were rejected", place: ["wns"], step: "check wns's app",
                    numbers: ["status": 404])
            ])
        ]
        let verdict = Verdict(situation)
        #expect(
            verdict.first.sentence(now: Self.now)
                == "wns delivers nothing: 100 % of wns's calls are rejected; the latest with status 404")
        #expect(verdict.first.finding.step == "check wns's app")
    }

    @Test("names what keeps a worker from delivering before what another warns of")
    func order() {
        let fault = Finding(.publisherFaults, "records have no key", step: "set it")
        let silent = Finding(.backendUnreachable, "the last 5 calls had no answer")
        let situation = Situation(
            now: Self.now, workers: [Self.worker("a:1", warnings: [fault]), Self.worker("b:1", [silent])],
            group: .known(Self.group()))
        let verdict = Verdict(situation)
        #expect(
            ([verdict.first] + verdict.others).map { $0.sentence(now: Self.now) } == [
                "The backend is unreachable: 1 of 2 workers (b:1): the last 5 calls had no answer",
                "Events were published wrongly: records have no key",
            ])
    }

    @Test("names a new cause of dead letters before an older one, each with its own beginning")
    func causes() {
        func cause(_ count: Int, _ source: String, _ status: Int64, _ first: WallTime) -> DeadLetterCause {
            var tally = TraitTally()
            for number in 0..<count {
                var traits = NotificationTraits()
                (traits.source, traits.status, traits.user) = (source, status, UserMark("\(source)-\(number)"))
                tally.add(traits, at: first)
            }
            return DeadLetterCause(count: count, pattern: FailurePattern(failed: tally, delivered: TraitTally()))
        }
        var clock = FindingClock()
        let older = cause(390, "billing", 422, Self.minutesAgo(9))
        var situation = Situation(now: Self.now, workers: [Self.worker()], group: .known(Self.group()))
        situation.deadLetters = [older]
        for second in 0..<20 as Range<Int64> {
            _ = clock.date(Verdict(situation), now: Self.now.advanced(by: second * .seconds(1)))
        }
        situation.deadLetters = [older, cause(22, "chat", 400, Self.minutesAgo(1))]
        let verdict = clock.date(Verdict(situation), now: Self.now.advanced(by: .seconds(20)))
        #expect(
            ([verdict.first] + verdict.others).map { $0.sentence(now: Self.now) } == [
                "Some dead letters since 02:13 UTC: 22 of the last hour are open; all from source chat; "
                    + "all with status 400; 22 users",
                "Some dead letters since 02:05 UTC: 390 of the last hour are open; all from source billing; "
                    + "all with status 422; 390 users",
            ])
    }

    @Test(
        "says since before when a push service was already failing as the console started")
    func sinceBefore() {
        var calls = ServiceCalls(ends: ["transient": 12], nothingSince: Self.minutesAgo(2))
        calls.mayBeOlder = true
        var clock = FindingClock()
        let first = clock.date(Verdict(Self.situation(calls, retrying: 9)), now: Self.now).first
        let sentence = first.sentence(now: Self.now)
        #expect(sentence == "wns delivers nothing since before 02:12 UTC: 100 % of wns's calls fail")
        #expect(Verdict(first: first).json(now: Self.now)["sinceIsBefore"] == true)
        // It stays so for its whole duration, even if less is remembered.
        calls.nothingSince = Self.minutesAgo(1)
        calls.mayBeOlder = false
        let later = clock.date(Verdict(Self.situation(calls, retrying: 9)), now: Self.secondsAgo(-5)).first
        #expect(later.finding.since == first.finding.since && later.isSinceBound)
        calls.nothingSince = Self.minutesAgo(4)
        let known = clock.date(Verdict(Self.situation(calls, retrying: 9)), now: Self.secondsAgo(-8)).first
        #expect(known.finding.since == Self.minutesAgo(4) && !known.isSinceBound)
    }

    @Test("reports unread dead letters, unless silent brokers explain them")
    func unread() {
        var situation = Situation(now: Self.now, workers: [Self.worker()], group: .known(Self.group()))
        situation.lettersProblem = "no leader"
        let finding = Verdict(situation).first
        #expect(finding.sentence(now: Self.now) == "The dead letters are not read: no leader")
        #expect(finding.finding.severity == .warn)
        situation.group = .unreachable("gone", last: nil)
        #expect(Verdict(situation).others.isEmpty)
    }

    @Test("reports failing calls from the retries alone, without a worker, and nothing once it is over")
    func retries() {
        func verdict(_ evidence: Evidence, retrying: Int64 = 9, workers: [WorkerObservation] = []) -> [String] {
            var model = NowModel()
            let group = Self.group([Self.partition(0), Self.partition(0, lag: retrying, delay: "10s")])
            model.look(
                NowModel.Snapshot(now: Self.now, workers: workers, group: .known(group), evidence: evidence))
            return ([model.verdict?.first].compactMap { $0 } + (model.verdict?.others ?? []))
                .filter { $0.key != "not-known" }.map { "\($0.finding.severity) \($0.sentence(now: Self.now))" }
        }
        func evidence(_ count: Int, delivered: Int, from: Int64 = 40, _ until: Int64 = 2) -> Evidence {
            var evidence = Evidence()
            var traits = NotificationTraits()
            (traits.services, traits.source) = (["wns"], "shop")
            // Deliveries long before, and of other push services.
            evidence.add(delivered: traits, at: Self.minutesAgo(3))
            for number in 0..<delivered {
                traits.services = number % 2 == 0 ? ["wns"] : ["apns"]
                evidence.add(delivered: traits, at: Self.secondsAgo(1))
            }
            (traits.services, traits.status) = (["wns"], 500)
            for number in 0..<count {
                traits.user = UserMark("user-\(number)")
                evidence.add(failing: traits, at: Self.secondsAgo(number % 2 == 0 ? from : until))
            }
            return evidence
        }
        #expect(
            verdict(evidence(30, delivered: 0)) == [
                "bad wns delivers nothing since 02:13 UTC: the last 30 retries for wns; not known from workers; "
                    + "all from source shop; all with status 500; 30 users"
            ])
        #expect(
            verdict(evidence(30, delivered: 60)) == [
                "warn Some calls fail: the last 30 retries for wns; not known from workers; all from source shop; "
                    + "all with status 500; 30 users"
            ])
        #expect(verdict(evidence(30, delivered: 400)) == [], "few among what is delivered")
        #expect(verdict(evidence(9, delivered: 0)) == [], "too few to say anything")
        #expect(verdict(evidence(30, delivered: 0, 15), retrying: 0) == [], "over")
        #expect(verdict(evidence(30, delivered: 0), workers: [Self.worker()]).allSatisfy { $0.hasPrefix("good") })
        var model = NowModel()
        model.look(.init(now: Self.secondsAgo(3), workers: [Self.worker()], group: .known(Self.group())))
        for (last, key) in [(Int64(2), "silent"), (0, "push-service-failing")] {
            model.look(
                .init(
                    now: Self.now, workers: [Self.silent()], group: .known(Self.group()),
                    evidence: evidence(30, delivered: 0, last)))
            #expect(model.verdict?.first.key == key, "retries of \(last) s ago, and no worker answers since 3 s ago")
        }
    }

    @Test("says that all workers are silent when those that answered before do not, and not by a hiccup")
    func allSilent() throws {
        func looks(_ workers: [WorkerObservation], silentFor seconds: Int64) throws -> ToldFinding {
            var model = NowModel()
            let silent = workers.map { Self.silent($0.address, reason: "timeout") }
            model.look(.init(now: Self.secondsAgo(60), workers: workers, group: .known(Self.group())))
            for second in [seconds, 0] {
                model.look(.init(now: Self.secondsAgo(second), workers: silent, group: .known(Self.group())))
            }
            return try #require(model.verdict?.first)
        }
        let both = [Self.worker("a:1"), Self.worker("b:1")]
        let hiccup = try looks(both, silentFor: 4)
        #expect(hiccup.finding.severity == .warn && hiccup.finding.title == "A worker is silent")
        let frozen = try looks(both, silentFor: 5)
        #expect(frozen.finding.severity == .bad && frozen.finding.since == Self.secondsAgo(5))
        #expect(
            frozen.finding.title == "All workers are silent"
                && frozen.whole == "no worker answers at a:1, b:1 (timeout)")
        #expect(try looks([both[0]], silentFor: 5).finding.title == "The worker is silent")
        // One that has never answered may deliver.
        let unreached = try looks([both[0], Self.silent("b:1")], silentFor: 20)
        #expect(unreached.finding.severity == .warn)
    }

    @Test("does not report a partition as stuck that an outage has held until just now")
    func mendedOutage() {
        func sight(_ second: Int64, _ reasons: [Finding]) -> NowModel.Snapshot {
            let group = Self.group([Self.partition(0, lag: 2_357, stillSince: Self.now)])
            return NowModel.Snapshot(
                now: Self.now.advanced(by: second * .seconds(1)),
                workers: [Self.worker("a:1", reasons)], group: .known(group))
        }
        var model = NowModel()
        for second in stride(from: Int64(0), through: 90, by: 2) { model.look(sight(second, [Self.breaker])) }
        #expect(model.verdict?.first.key == "outage-breaker")
        for second in stride(from: Int64(92), through: 148, by: 2) {
            model.look(sight(second, []))
            #expect(model.verdict?.first.key == "delivering")
        }
        // A minute after its end the partition is stuck by itself, since then.
        model.look(sight(152, []))
        #expect(model.verdict?.first.key == "partition-stuck")
        #expect(model.verdict?.first.finding.since == Self.now.advanced(by: .seconds(90)))
    }

    private static func situation(_ calls: ServiceCalls, retrying: Int64) -> Situation {
        Situation(
            now: now, workers: [worker()],
            group: .known(group([partition(0), partition(0, lag: retrying, delay: "10s")])),
            calls: ["wns": calls])
    }

    private static func secondsAgo(_ seconds: Int64) -> WallTime { now.advanced(by: -seconds * .seconds(1)) }

    @Test("dates old failures of calls, and is silent when no waiting event could fail again")
    func oldFailures() {
        var calls = ServiceCalls(ends: ["delivered": 71, "transient": 29], lastAt: ["transient": Self.secondsAgo(43)])
        #expect(Verdict(Self.situation(calls, retrying: 0)).first.finding.severity == .good)
        #expect(
            Verdict(Self.situation(calls, retrying: 5)).first.sentence(now: Self.now)
                == "Some calls fail: 29 % of wns's calls fail, the last 43 s ago")
        calls.lastAt["transient"] = Self.secondsAgo(4)
        #expect(
            Verdict(Self.situation(calls, retrying: 0)).first.sentence(now: Self.now)
                == "Some calls fail: 29 % of wns's calls fail")
    }

    @Test(
        "dates old refusals and throttling of calls, and is silent when they are over",
        arguments: [("credentials", "refused with 401 or 403"), ("throttled", "answered with 429")])
    func oldRefusals(end: String, words: String) {
        var calls = ServiceCalls(ends: ["delivered": 90, end: 10], lastAt: [end: Self.secondsAgo(12)])
        #expect(Verdict(Self.situation(calls, retrying: 0)).first.finding.severity == .good)
        let old = Verdict(Self.situation(calls, retrying: 5)).first.sentence(now: Self.now)
        #expect(old.hasSuffix(": 10 % of wns's calls are \(words), the last 12 s ago"))
        calls.lastAt[end] = Self.secondsAgo(4)
        let fresh = Verdict(Self.situation(calls, retrying: 0)).first.sentence(now: Self.now)
        #expect(fresh.hasSuffix(": 10 % of wns's calls are \(words)"))
    }

    @Test("is red when a push service delivers nothing, with the beginning, the status, and the users")
    func deadService() {
        let calls = ServiceCalls(
            ends: ["transient": 12], lastAt: ["transient": Self.secondsAgo(1)], nothingSince: Self.minutesAgo(2))
        var situation = Self.situation(calls, retrying: 9)
        var failing = TraitTally()
        for number in 0..<1_311 {
            var traits = NotificationTraits()
            (traits.services, traits.status, traits.user) = (["wns"], 500, UserMark("user-\(number)"))
            failing.add(traits, at: Self.minutesAgo(5))
        }
        situation.deadPatterns["wns"] = FailurePattern(failed: failing, delivered: TraitTally())
        let verdict = Verdict(situation)
        #expect(verdict.first.finding.severity == .bad && verdict.others.isEmpty)
        #expect(
            verdict.first.sentence(now: Self.now)
                == "wns delivers nothing since 02:09 UTC: 100 % of wns's calls fail; "
                + "all with status 500; 1\u{A0}311 users")
        #expect(verdict.first.finding.command.prefix(3) == ["herald", "send", "--user"])
    }

    @Test("is yellow, and names the campaign, when nearly all failures of a push service are of one campaign")
    func deadCampaign() {
        for others in [0, 1, 10, 11] {
            var situation = Self.situation(ServiceCalls(ends: ["transient": 12]), retrying: 9)
            var failing = TraitTally()
            for number in 0..<200 {
                var traits = NotificationTraits()
                (traits.services, traits.status, traits.user) = (["wns"], 500, UserMark("user-\(number)"))
                if number >= others { traits.campaign = "spring" }
                failing.add(traits, at: Self.minutesAgo(5))
            }
            situation.deadPatterns["wns"] = FailurePattern(failed: failing, delivered: TraitTally())
            let first = Verdict(situation).first
            #expect(first.finding.severity == (others <= 10 ? .warn : .bad))
            #expect(
                first.finding.title
                    == (others <= 10
                        ? "Campaign spring: wns delivers nothing" : "wns delivers nothing"))
        }
    }

    @Test("waits for results before it says whose calls are rejected, for some seconds at most")
    func unreadRejections() {
        func first(seen: Int, after seconds: Int64) -> ToldFinding {
            let calls = ServiceCalls(ends: ["rejected": 60], nothingSince: Self.secondsAgo(seconds))
            var situation = Self.situation(calls, retrying: 2)
            var failing = TraitTally()
            for _ in 0..<seen {
                var traits = NotificationTraits()
                (traits.services, traits.status, traits.campaign) = (["wns"], 404, "spring")
                failing.add(traits, at: Self.secondsAgo(1))
            }
            situation.deadPatterns["wns"] = FailurePattern(failed: failing, delivered: TraitTally())
            return Verdict(situation).first
        }
        for seen in [0, 9] {
            #expect(first(seen: seen, after: 5).finding.severity == .good)
            #expect(first(seen: seen, after: 6).finding.severity == .bad)
        }
        let told = first(seen: 10, after: 5)
        #expect(told.finding.severity == .warn && told.finding.title == "Campaign spring: wns delivers nothing")
        #expect(told.finding.since == Self.secondsAgo(1), "the others' calls did not fail because of it")
    }

    @Test("is yellow about a campaign that was paused for rejected users, or whose outcomes fail")
    func campaigns() throws {
        func trouble(
            _ state: CampaignControl.State, byFailures: Bool = false, limit: Double? = nil, _ outcomes: [String: Int],
            isComplete: Bool = false, at moment: WallTime = Self.now, expiresAt: WallTime? = nil
        ) -> CampaignTrouble? {
            let control = CampaignControl(
                state: state, at: Self.minutesAgo(3), by: "herald-1",
                reason: byFailures ? "its notifications are rejected" : nil,
                pauseIfFailures: limit, cause: byFailures ? .failures : nil)
            let published = isComplete ? outcomes.values.reduce(0, +) : 400
            let progress = CampaignProgress(
                recipients: 1_000, published: published, repeats: 0, invalid: 0, isComplete: isComplete,
                at: moment.milliseconds,
                by: "ann",
                outcomes: outcomes, resultOffsets: [:])
            let definition = CampaignDefinition(
                name: "spring", message: "Hi", pns: ["apns"], topic: "notifications.bulk",
                expiresAt: expiresAt?.milliseconds, startedAt: 0, startedBy: "ann",
                requestOffsets: [:], resultOffsets: [:])
            return CampaignTrouble(
                CampaignIndex.Campaign(
                    name: "spring", definition: definition, progress: progress, control: control), now: Self.now)
        }
        func sentence(_ trouble: CampaignTrouble?) -> String? {
            guard let trouble else { return nil }
            var situation = Self.situation(ServiceCalls(), retrying: 0)
            situation.calls = [:]
            situation.campaigns = [trouble]
            let first = Verdict(situation).first
            #expect(first.finding.severity == .warn && first.href == "/campaigns/spring")
            return first.sentence(now: Self.now)
        }
        #expect(
            sentence(trouble(.paused, byFailures: true, ["dead-lettered": 200]))
                == "Campaign spring is paused since 02:11 UTC: its notifications are rejected")
        #expect(
            sentence(trouble(.running, limit: 0.5, ["delivered": 60, "dead-lettered": 40]))
                == "Campaign spring fails in part: 40 of 100 outcomes failed; it pauses when more than 50% fail "
                + "after its start or its last resume")
        #expect(
            sentence(trouble(.running, ["dead-lettered": 1_200]))
                == "Campaign spring fails in part: 1 200 of 1 200 outcomes failed; it pauses when half of a worker's "
                + "latest calls are rejected with one status")
        #expect(trouble(.running, ["delivered": 90, "dead-lettered": 10]) == nil)
        #expect(trouble(.running, ["dead-lettered": 19]) == nil)
        let held = try #require(trouble(.paused, ["dead-lettered": 200]))
        var situation = Self.situation(ServiceCalls(), retrying: 0)
        (situation.calls, situation.campaigns) = ([:], [held])
        #expect(Verdict(situation).first.finding.severity == .good, "by an operator, who knows")
        #expect(Verdict(situation).first.finding.what.hasSuffix("; campaign spring is paused"))
        let gone = try #require(trouble(.running, ["delivered": 60], at: WallTime(milliseconds: 0)))
        #expect(
            sentence(gone)?.hasPrefix("Campaign spring is stopped since 1970-01-01 00:00 UTC: nobody publishes") == true
        )
        let late = try #require(trouble(.running, ["delivered": 60], expiresAt: Self.minutesAgo(3)))
        #expect(sentence(late) == "Campaign spring has expired since 02:11 UTC: 600 recipients were never notified")
        #expect(trouble(.running, ["delivered": 60], expiresAt: Self.minutesAgo(1_500)) == nil, "of another day")
        situation.campaigns = [gone]
        situation.group = .unreachable("gone", last: Self.group())
        #expect(!Verdict(situation).others.contains { $0.key.hasPrefix("campaign-stopped") }, "no broker tells of it")
        #expect(trouble(.cancelled, byFailures: true, ["dead-lettered": 200]) == nil)
        #expect(trouble(.paused, byFailures: true, ["dead-lettered": 200], isComplete: true) == nil, "finished")
    }

    @Test("names the users and causes of dead letters, and plans the replay of exactly these")
    func letterPattern() throws {
        var situation = Self.situation(ServiceCalls(), retrying: 0)
        situation.calls = [:]
        var traits = NotificationTraits()
        (traits.source, traits.status, traits.detail) = ("billing", 400, "sms is not allowed")
        var failed = TraitTally()
        failed.add(traits, times: 40)
        failed.note(Self.minutesAgo(3))
        situation.deadLetters = [
            DeadLetterCause(count: 40, pattern: FailurePattern(failed: failed, delivered: TraitTally()))
        ]
        let finding = Verdict(situation).first
        #expect(
            finding.sentence(now: Self.now)
                == "Some dead letters since 02:11 UTC: 40 of the last hour are open; all from source billing; "
                + "all with status 400; all 'sms is not allowed'")
        #expect(finding.finding.command == ["herald", "dlq", "list", "--since", "1h", "--group-by", "source"])
        #expect(finding.href == "/failures?since=1h&by=source")
        #expect(finding.plan == ["since": "1h", "where": "source = 'billing' and status = 400"])
    }

    @Test("leads to the failures when there are new dead letters, first or beside a worse fault")
    func failures() {
        for example in Self.numbers.prefix(2) {
            let verdict = Verdict(example.situation)
            let all = [verdict.first] + verdict.others
            #expect(all.contains { $0.href == "/failures" })
        }
    }

    @Test("tells of a worker that vanished, and that others have its partitions")
    func departure() {
        var situation = Situation(now: Self.now, workers: [Self.worker()], group: .known(Self.group()))
        situation.departures = [.init(address: "w2:9464", at: Self.minutesAgo(2), workers: 2)]
        let first = Verdict(situation).first.finding
        #expect(first.severity == .warn && first.title == "A worker is gone")
        #expect(
            first.what.hasPrefix("w2:9464 did not answer any more at 02:12 UTC and left the group without a farewell"))
    }

    @Test("stands a topic's difference with refusals of that topic, and names the push service in commands")
    func drift() {
        func told(_ key: FindingKey, _ place: String) -> ToldFinding {
            ToldFinding(Finding(key, "what", place: [place]))
        }
        let refused = told(.recordsRefused, "notifications.results")
        let same = Verdict.folded([refused, told(.topicsDrift, "notifications.results")])
        #expect(same.map(\.key) == ["records-refused"] && same[0].consequences.map(\.key) == ["topics-drift"])
        #expect(Verdict.folded([refused, told(.topicsDrift, "notifications")]).count == 2)
        let finding = Finding(.callsFail, "what", place: ["wns", "gcm"])
        #expect(finding.command.contains("wns") && !finding.command.contains("PNS"))
    }

    @Test("dates new faults, keeps the date through a short gap, and forgets ended ones")
    func clock() {
        var clock = FindingClock()
        let good = Verdict(first: Self.told("delivering", .good, "Delivering"))
        let bad = Verdict(
            first: Self.told("x", .bad, "Outage"), others: [Self.told("y", .warn, "Late", since: Self.minutesAgo(9))])
        func at(_ seconds: Int64) -> WallTime { Self.now.advanced(by: seconds * .seconds(1)) }
        #expect(clock.date(bad, now: at(0)).first.finding.since == nil, "nobody saw it begin")
        #expect(clock.date(Verdict(first: Self.told("z", .bad, "Stuck")), now: at(2)).first.finding.since == nil)
        #expect(clock.date(good, now: at(100)).first.finding.since == at(100))
        let dated = clock.date(bad, now: at(102))
        #expect(dated.first.finding.since == at(102) && dated.others.first?.finding.since == Self.minutesAgo(9))
        _ = clock.date(good, now: at(104))
        // As long as its entry of the last day goes on.
        #expect(clock.date(bad, now: at(130)).first.finding.since == at(102))
        for seconds in stride(from: Int64(132), to: 160, by: 2) { _ = clock.date(good, now: at(seconds)) }
        #expect(clock.date(bad, now: at(161)).first.finding.since == at(161), "its end was real")
        #expect(clock.date(bad, now: at(200)).first.finding.since == at(200), "nobody looked for longer than that")
    }

    @Test("keeps the earliest beginning of a lasting fault, from any source")
    func steadySince() {
        var clock = FindingClock()
        func look(_ since: WallTime?, _ seconds: Int64) -> WallTime? {
            let found = Verdict(first: Self.told("x", .bad, "Outage", since: since))
            return clock.date(found, now: Self.now.advanced(by: seconds * .seconds(1))).first.finding.since
        }
        #expect(look(Self.minutesAgo(9), 0) == Self.minutesAgo(9))
        #expect(look(Self.minutesAgo(1), 2) == Self.minutesAgo(9), "of a worker that was started later")
        #expect(look(nil, 4) == Self.minutesAgo(9))
    }

    @Test("keeps the beginning of what stood with a cause for a while, or is back after a moment")
    func episodes() {
        var clock = FindingClock()
        let well = Verdict(first: Self.told("delivering", .good, "Delivering"))
        let copies = Verdict(first: ToldFinding(.copiesMissing, "broker 2 is silent"))
        var few = Verdict(first: ToldFinding(.tooFewBrokers, "brokers 2, 3 are silent"))
        few.first.consequences = [ToldFinding(.rebalance, "the group moves its partitions")]
        func look(_ verdict: Verdict, _ seconds: Int64) -> WallTime? {
            clock.date(verdict, now: Self.now.advanced(by: seconds * .seconds(1))).first.finding.since
        }
        _ = look(well, 0)
        let begun = Self.now.advanced(by: .seconds(100))
        #expect(look(copies, 100) == begun)
        _ = look(well, 104)
        #expect(look(copies, 129) == begun, "one episode")
        for seconds in stride(from: Int64(132), to: 260, by: 2) { _ = look(few, seconds) }
        let rebalance = Verdict(first: ToldFinding(.rebalance, "the group moves its partitions"))
        #expect(look(rebalance, 262) == Self.now.advanced(by: .seconds(132)))
    }

    private static func told(
        _ key: String, _ severity: Finding.Severity, _ title: String, since: WallTime? = nil
    ) -> ToldFinding {
        ToldFinding(Finding(key: key, severity, title: title, since: since))
    }
}
