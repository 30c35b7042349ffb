import HeraldBackend
import HeraldEvents
import HeraldHTTP
import HeraldThreads
import HeraldTime
import Testing

@testable import HeraldAdmin
@testable import HeraldCore
@testable import HeraldDriver
@testable import HeraldKafka
@testable import HeraldWorker

@Suite("Readiness")
struct ReadinessTests {
    private static let now = Reports.now

    @Test("A worker that delivers is ready and alive")
    func ready() {
        #expect(Readiness(Reports.ready(), now: Self.now).reasons == [])
        #expect(Readiness(Reports.ready(), now: Self.now).stuckTime == nil)
    }

    @Test("Without the topic of one delay a worker delivers, and says by way of which other one retries go")
    func missingDelay() {
        var report = Reports.ready()
        report.cluster.missingTopics = ["retry.1s"]
        report.lanes[0].detours = ["retry.1s": "retry.5s"]
        let readiness = Readiness(report, now: Self.now)
        #expect(readiness.isReady)
        let finding = readiness.warnings.first
        #expect(finding?.key == FindingKey.topicsMissing.rawValue && finding?.severity == .warn)
        #expect(
            finding?.sentence.hasPrefix(
                "The topic retry.1s is missing, or Herald may not see it; calls go on, and the retries that it would take go by "
                    + "way of retry.5s: run `herald topics apply`") == true, "\(finding?.sentence ?? "")")
        report.cluster.missingTopics.append("results")
        let both = Readiness(report, now: Self.now)
        #expect(both.reasons.map(\.place) == [["results"]] && both.warnings.map(\.place) == [["retry.1s"]])
    }

    @Test("Lost retries are no reason for not being ready: all that comes is called")
    func lostRetries() {
        var report = Reports.ready()
        let retry = TopicPartition(topic: "notifications.retry.1s", partition: 0)
        report.lanes[0].lostRecords = [.init(partition: retry, count: 7)]
        let readiness = Readiness(report, now: Self.now)
        #expect(readiness.isReady && readiness.warnings.first?.key == FindingKey.recordsLost.rawValue)
        report.lanes[0].lostRecords.append(.init(partition: Reports.partition, count: 2))
        let both = Readiness(report, now: Self.now)
        #expect(both.reasons.first?.what.hasPrefix("9 records of ") == true && both.warnings.isEmpty)
    }

    private struct Case: Sendable {
        var reason: FindingKey
        /// A part that the sentence has to contain.
        var part: String
        var change: @Sendable (inout WorkerReport) -> Void
    }

    private static let cases: [Case] = [
        Case(reason: .starting, part: "starting") { $0.lanes = [] },
        Case(reason: .starting, part: "starting") { $0.lanes[0].isReady = false },
        Case(reason: .stopping, part: "finishes") { $0.isStopping = true },
        Case(reason: .stuck, part: "31 s") { $0.lanes[0].at = now.advanced(by: .seconds(-31)) },
        Case(reason: .brokersUnreachable, part: "No broker answers (gone)") {
            $0.cluster.isReachable = false
            $0.cluster.error = KafkaError(code: KafkaError.Code.transport, message: "gone")
        },
        Case(reason: .loginFailed, part: "(wrong password)") {
            $0.cluster.isReachable = false
            $0.cluster.error = KafkaError(code: KafkaError.Code.authentication, message: "wrong password")
        },
        Case(
            reason: .topicsMissing,
            part: "The topic notifications.results is missing, or Herald may not see it: run `herald topics apply`"
        ) {
            $0.cluster.missingTopics = ["notifications.results"]
        },
        Case(reason: .partitionsWithoutLeader, part: "1 partition has no leader and waits (notifications/0): ") {
            $0.cluster.leaderless = [Reports.partition]
        },
        Case(
            reason: .offsetsMissing,
            part: "1 partition whose events have outcomes (notifications/0): run `herald offsets"
        ) {
            $0.lanes[0].withoutOffsets = [Reports.partition]
        },
        Case(reason: .offsetsMissing, part: "was kafka.group renamed? Then set it back. If not, run `herald offsets") {
            $0.lanes[0].withoutOffsets = [Reports.partition]
            $0.lanes[0].otherGroups = OtherGroups(heralds: [.init(name: "herald", newest: nil, hasMembers: false)])
        },
        Case(reason: .offsetsMissing, part: "results are read") { $0.lanes[0].lookedUp = [Reports.partition] },
        Case(
            reason: .recordsLost,
            part: "9 records of notifications/0, notifications/1 were deleted before they were read: see what"
        ) {
            let other = TopicPartition(topic: "notifications", partition: 1)
            $0.lanes[0].lostRecords = [
                .init(partition: Reports.partition, count: 7), .init(partition: other, count: 2),
            ]
        },
        Case(
            reason: .tooFewBrokers,
            part:
                "2 of 3 brokers do not answer (b:9092, number 3), so 1 partition cannot be written or read (notifications/0): "
        ) {
            $0.cluster.unusable = [Reports.partition]
            $0.cluster.unreadable = [Reports.partition]
            $0.cluster.silentBrokers = [
                .init(id: 2, host: "b", port: 9_092), .init(id: 3, host: "", port: 0),
            ]
            $0.cluster.brokerCount = 3
        },
        Case(reason: .tooFewBrokers, part: "so 2 partitions cannot be written, and 1 partition not read either (") {
            $0.cluster.unusable = [Reports.partition, Reports.retry]
            $0.cluster.unreadable = [Reports.retry]
            $0.cluster.silentBrokers = [.init(id: 2, host: "b", port: 9_092)]
        },
        Case(reason: .tooFewBrokers, part: "so 1 partition cannot be written (notifications/0): ") {
            $0.cluster.unusable = [Reports.partition]
            $0.cluster.silentBrokers = [.init(id: 2, host: "b", port: 9_092)]
        },
        Case(reason: .noProgress, part: "Nothing was committed for 31 s, and 7 events") {
            $0.lanes[0].events = 7
            $0.lanes[0].outcomesWaitSince = now.advanced(by: .seconds(-31))
        },
        Case(reason: .noProgress, part: "31 s, and 7 events in memory wait for it; 1 broker does not answer (b:9092)") {
            $0.lanes[0].events = 7
            $0.lanes[0].outcomesWaitSince = now.advanced(by: .seconds(-31))
            $0.cluster.silentBrokers = [.init(id: 2, host: "b", port: 9_092)]
        },
        Case(reason: .noProgress, part: "notifications/0, and none was taken for 60 s") {
            $0.cluster.standingStill = [Reports.partition]
        },
        Case(reason: .noProgress, part: "where to begin in notifications/0 (no leader)") {
            $0.lanes[0].unanswered = [.init(partition: Reports.partition, text: "no leader")]
        },
        Case(reason: .unassigned, part: "rebalance") { $0.lanes[0].phase = .unassigned },
        Case(reason: .unassigned, part: "the history of 6 partitions for 9 s") {
            $0.lanes[0].phase = .unassigned
            $0.lanes[0].beginning = .init(since: now.advanced(by: .seconds(-9)), partitions: 6)
        },
        Case(reason: .unassigned, part: "; the brokers answered: gone") {
            $0.lanes[0].phase = .unassigned
            $0.lanes[0].beginning = .init(since: now, partitions: 6, trouble: "gone")
        },
        Case(reason: .groupRefuses, part: "group.max.size") {
            $0.lanes[0].phase = .unassigned
            $0.lanes[0].groupObstacle = GroupObstacle(KafkaError(code: KafkaError.Code.groupMaxSizeReached))
        },
        Case(reason: .groupRefuses, part: "They cannot: mend it.") {
            $0.lanes[0].isReady = false
            $0.cluster.coordinatorObstacle = GroupObstacle(what: "they cannot", remedy: "mend it")
        },
        Case(reason: .recordsRefused, part: "results refuses nearly all records (NO): compare the clocks; nothing") {
            $0.lanes[0].refusal = .init(since: now, text: "NO", remedy: "compare the clocks", topic: "results")
        },
        Case(reason: .recordsRefused, part: "allow write; nothing is lost") { report in
            // The transaction fails because of it.
            report.lanes[0].refusal = .init(since: now, text: "NO", remedy: "allow write", topic: "results")
            report.lanes[0].commitTrouble = .init(since: now.advanced(by: .seconds(-16)), text: "NO")
            report.lanes[0].outcomesWaitSince = now.advanced(by: .seconds(-60))
        },
        Case(reason: .topicsMissing, part: "retry.1s") {
            $0.cluster.missingTopics = ["retry.1s"]
            $0.lanes[0].refusal = .init(since: now, text: "no broker answered in time")
        },
        Case(reason: .recordsRefused, part: "permissions") { $0.lanes[0].refusal = .init(since: now, text: "NO") },
        Case(reason: .recordsRefused, part: "(no answer)") {
            $0.lanes[0].refusal = .init(since: now, text: "no answer", isSilence: true)
        },
        Case(reason: .recordsRefused, part: "(no answer); 1 broker does not answer (b:9092): look") {
            // No leader has moved by then.
            $0.cluster.silentBrokers = [.init(id: 2, host: "b", port: 9_092)]
            $0.lanes[0].refusal = .init(
                since: now.advanced(by: .seconds(-16)), text: "no answer", isSilence: true)
        },
        Case(reason: .commitsFailing, part: "NO") {
            $0.lanes[0].commitTrouble = .init(since: now.advanced(by: .seconds(-16)), text: "NO")
        },
        Case(reason: .backendUnreachable, part: "backend.url") { report in
            for _ in 0..<5 {
                report.lanes[0].meter.callEnded(
                    CallResult(failure: .timeout), service: 0, nanoseconds: 1, now: Reports.now)
            }
        },
    ]

    @Test("Brokers that are missing come before the partitions that nobody has because of them")
    func brokersBeforePartitions() {
        let report = Reports.ready {
            $0.lanes[0].phase = .unassigned
            $0.cluster.unusable = [Reports.partition]
            $0.cluster.silentBrokers = [.init(id: 2, host: "b", port: 9_092)]
        }
        #expect(Readiness(report, now: Self.now).reasons.map(\.key) == ["too-few-brokers", "unassigned"])
    }

    @Test("Each obstacle is named, with its remedy", arguments: cases.indices)
    func reason(index: Int) throws {
        let expected = Self.cases[index]
        let readiness = Readiness(Reports.ready(expected.change), now: Self.now)
        #expect(readiness.reasons.map(\.key) == [expected.reason.rawValue])
        #expect(try #require(readiness.reasons.first).sentence.contains(expected.part))
        let isStuck = readiness.stuckTime != nil
        #expect(isStuck == (expected.reason == .stuck), "only a lane that does not turn makes the process dead")
    }

    @Test(
        "Each hold has a reason and the sentence of the log",
        arguments: OutageReason.common + TargetOutage.all.map(OutageReason.target))
    func outage(reason: OutageReason) throws {
        let report = Reports.ready {
            $0.lanes[0].outage = OutageReport(reason, status: 404)
            $0.lanes[0].outageSince = WallTime(milliseconds: 0)
        }
        let finding = try #require(Readiness(report, now: Self.now).reasons.first)
        #expect(finding.key == "outage-\(reason.word)" && finding.isOutage && finding.alert == "HeraldOutage")
        #expect(finding == reason.finding(status: 404, since: WallTime(milliseconds: 0)))
        let page = StatusPage(report, now: Self.now).readyz
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(page.status == 503 && text.contains(finding.sentence))
        #expect(text.contains("\"since\": \"1970-01-01T00:00:00.000Z\""))
    }

    @Test("That no broker answers stands before, and instead of, what follows from it")
    func silentBrokers() {
        func readiness(_ change: (inout WorkerReport) -> Void) -> Readiness {
            let report = Reports.ready {
                $0.cluster.isSilent = true
                $0.cluster.error = KafkaError(code: KafkaError.Code.transport, message: "gone")
                $0.lanes[0].outcomesWaitSince = Self.now.advanced(by: .seconds(-31))
                change(&$0)
            }
            return Readiness(report, now: Self.now)
        }
        // A moment without an answer may be a restart.
        let restart = readiness { $0.lanes[0].outcomesWaitSince = nil }
        #expect(restart.isReady && restart.areBrokersReachable == true)
        for cut in [readiness { $0.lanes[0].phase = .unassigned }, readiness { $0.cluster.isReachable = false }] {
            #expect(cut.reasons.map(\.key) == ["brokers-unreachable"] && cut.areBrokersReachable == false)
            #expect(cut.reasons.first?.what == "no broker answers (gone)")
        }
        let stalled = readiness { $0.cluster.isSilent = false }
        #expect(stalled.reasons.first?.what == "nothing was committed for 31 s")
    }

    @Test("An outage with nothing to call is a warning: the next event ends it")
    func idleOutage() {
        func readiness(_ change: (inout WorkerReport) -> Void = { _ in }) -> Readiness {
            let report = Reports.ready {
                $0.lanes[0].outage = OutageReport(.breaker, status: 503)
                $0.lanes[0].outageSince = WallTime(milliseconds: 0)
                $0.cluster.ends = [Reports.partition: 90, Reports.retry: 3]
                $0.cluster.endsAsOf = WallTime(milliseconds: 1)
                change(&$0)
            }
            return Readiness(report, now: Self.now)
        }
        let idle = readiness()
        #expect(idle.reasons == [] && idle.warnings.map(\.key) == ["outage-breaker"])
        #expect(
            idle.warnings.first?.what.hasSuffix("; nothing waits, and the next event tries whether it is over") == true)
        #expect(idle.warnings.first?.since == WallTime(milliseconds: 0) && idle.warnings.first?.severity == .warn)
        for held in [
            readiness { $0.lanes[0].events = 1 }, readiness { $0.cluster.ends[Reports.retry] = 4 },
            readiness { $0.cluster.ends[Reports.partition] = nil },
            readiness { $0.cluster.endsAsOf = WallTime(milliseconds: 0) },
        ] {
            #expect(held.reasons.map(\.key) == ["outage-breaker"] && held.warnings == [])
        }
    }

    @Test(
        "An outage in which no call is tried while retries wait is a warning, and says when the next is due"
    )
    func untriedOutage() throws {
        func readiness(_ change: (inout WorkerReport) -> Void = { _ in }) -> Readiness {
            let report = Reports.ready {
                $0.lanes[0].outage = OutageReport(.breaker, status: 503)
                $0.lanes[0].outageSince = WallTime(milliseconds: 0)
                $0.lanes[0].meter.lastCallAt = Self.now.advanced(by: .seconds(-160))
                $0.lanes[0].lastCall = WallTime(milliseconds: 10_000)
                $0.lanes[0].nextDue = WallTime(milliseconds: 840_000)
                $0.lanes[0].events = 1
                $0.lanes[0].waiting = WaitReason.Kind.allCases.map { $0 == .retryDue ? 1 : 0 }
                $0.lanes[0].partitions[1].next = 4
                $0.cluster.ends = [Reports.partition: 90, Reports.retry: 10]
                $0.cluster.endsAsOf = WallTime(milliseconds: 1)
                change(&$0)
            }
            return Readiness(report, now: Self.now)
        }
        let untried = readiness()
        let finding = try #require(untried.warnings.first)
        #expect(untried.reasons == [] && finding.severity == .warn && finding.title == "The outage may be over")
        #expect(
            finding.what.hasSuffix(
                "; no call has been tried since 1970-01-01T00:00:10.000Z; the next is due at 1970-01-01T00:14:00.000Z, and "
                    + "tries whether it is over"))
        for held in [
            // Of the delay topic nothing is in memory: its first may be due.
            readiness { $0.lanes[0].partitions[1].next = 3 },
            readiness { $0.cluster.ends[Reports.partition] = 91 },
            readiness { $0.lanes[0].waiting = [] },
            readiness { $0.lanes[0].waiting = WaitReason.Kind.allCases.map { $0 == .outage ? 1 : 0 } },
            readiness { $0.lanes[0].calls = 1 },
            // It was tried just now.
            readiness { $0.lanes[0].meter.lastCallAt = Self.now.advanced(by: .seconds(-9)) },
        ] {
            #expect(held.reasons.map(\.key) == ["outage-breaker"] && held.warnings == [])
        }
    }

    @Test("A refusal without a topic ends with a commit of any lane since, and not before")
    func refusalOver() {
        func keys(refusedAt refused: Int64, committedAt committed: Int64?, topic: String? = nil) -> [String] {
            let report = Reports.ready {
                $0.lanes[0].refusal = .init(
                    since: Self.now.advanced(by: .seconds(-60)), text: "NO", topic: topic,
                    latest: Self.now.advanced(by: refused * .seconds(1)))
                $0.lanes.append(Reports.ready().lanes[0])
                $0.lanes[1].meter.lastCommitAt = committed.map { Self.now.advanced(by: $0 * .seconds(1)) }
            }
            return Readiness(report, now: Self.now).reasons.map(\.key)
        }
        #expect(keys(refusedAt: -5, committedAt: nil) == ["records-refused"])
        #expect(keys(refusedAt: -5, committedAt: -6) == ["records-refused"])
        #expect(keys(refusedAt: -5, committedAt: -1) == [])
        #expect(
            keys(refusedAt: -5, committedAt: -1, topic: "results") == ["records-refused"], "another topic was written")
    }

    @Test(
        "A record that a topic refuses alone is a warning with a remedy, and blames no commits or lag"
    )
    func refusedRecord() {
        let report = Reports.ready { report in
            report.cluster.lagPerSecond = 100
            report.lanes[0].commitTrouble = .init(since: Self.now.advanced(by: .seconds(-60)), text: "NO")
            report.lanes[0].refusedRecords = [
                .init(
                    topic: "results", events: 2, since: WallTime(milliseconds: 0), text: "NO",
                    remedy: "look at its settings")
            ]
        }
        let page = String(decoding: StatusPage(report, now: Self.now).readyz.body, as: UTF8.self)
        #expect(page.contains(#""ready": true"#) && page.contains("record-refused"), "\(page)")
        #expect(
            page.contains("2 events wait, because results does not take a record of theirs (NO): look at its settings.")
        )
        #expect(!page.contains("lag-growing") && !page.contains("commits-failing"))
    }

    @Test("A delay's topic that refuses records is a warning that says by way of which one its retries go")
    func detour() {
        let report = Reports.ready { report in
            report.lanes[0].refusedRecords = [
                .init(
                    topic: "retry.5s", events: 3, since: WallTime(milliseconds: 0), text: "MSG_SIZE_TOO_LARGE",
                    remedy: "run herald topics apply", instead: "retry.30s")
            ]
        }
        let page = String(decoding: StatusPage(report, now: Self.now).readyz.body, as: UTF8.self)
        #expect(page.contains(#""ready": true"#) && page.contains("record-refused"), "\(page)")
        #expect(
            page.contains(
                "3 retries have gone by way of retry.30s, because retry.5s does not take them (MSG_SIZE_TOO_LARGE); "
                    + "calls go on: run herald topics apply. Herald tries that topic again by itself."), "\(page)")
    }

    @Test(
        "Temporary conditions are no reason: an ended lane, one failed commit, four lost calls, a growing lag")
    func passing() {
        let report = Reports.ready { report in
            report.cluster.lagPerSecond = 12
            report.lanes[0].commitTrouble = .init(since: Self.now, text: "NO")
            for _ in 0..<4 {
                report.lanes[0].meter.callEnded(
                    CallResult(failure: .timeout), service: 0, nanoseconds: 1, now: Reports.now)
            }
            var ended = report.lanes[0]
            ended.number = 1
            ended.hasEnded = true
            ended.at = Self.now.advanced(by: .seconds(-100))
            report.lanes.append(ended)
        }
        #expect(Readiness(report, now: Self.now).reasons == [])
        #expect(Readiness(report, now: Self.now).stuckTime == nil)
        let page = StatusPage(report, now: Self.now).readyz
        #expect(page.status == 200 && String(decoding: page.body, as: UTF8.self).contains("lag-growing"))
    }

    @Test("Shorter waits for outcomes, a long commit interval and one replaceable broker are no reason")
    func progress() {
        let now = Self.now
        func findings(_ change: (inout WorkerReport) -> Void) -> [Finding] {
            Readiness(Reports.ready(change), now: now).reasons
        }
        #expect(findings { $0.lanes[0].outcomesWaitSince = now.advanced(by: .seconds(-30)) } == [])
        #expect(
            findings {
                $0.lanes[0].outcomesWaitSince = now.advanced(by: .seconds(-89))
                $0.lanes[0].commitInterval = .seconds(30)
            } == [], "the settings ask for no more commits")
        #expect(findings { $0.cluster.silentBrokers = [.init(id: 2, host: "b", port: 9_092)] } == [])
        #expect(
            findings {
                $0.cluster.silentBrokers = [.init(id: 2, host: "b", port: 9_092)]
                $0.lanes[0].refusal = .init(
                    since: now.advanced(by: .seconds(-9)), text: "no broker answered in time", isSilence: true)
            } == [], "a silent broker's leaders move, and the records are taken")
        #expect(
            findings {
                $0.lanes[0].outcomesWaitSince = now.advanced(by: .seconds(-99))
                $0.lanes[0].hasEnded = true
                $0.lanes.append(Reports.ready().lanes[0])
            } == [], "a lane that has ended waits for nothing")
        let stalled = Reports.ready { $0.lanes[0].outcomesWaitSince = now.advanced(by: .minutes(-10)) }
        #expect(Readiness(stalled, now: now).stuckTime == nil, "it is alive: a restart would repeat its calls")
    }

    @Test("The backend's state is that of the latest calls, and unknown when all connections are closed")
    func backend() {
        func word(_ change: @escaping (inout LaneReport) -> Void) -> Bool? {
            Readiness(Reports.ready { change(&$0.lanes[0]) }, now: Self.now).isBackendReachable
        }
        func end(_ lane: inout LaneReport, _ result: CallResult) {
            lane.meter.callEnded(result, service: 0, nanoseconds: 1, now: Self.now)
        }
        #expect(word { _ in } == nil)
        #expect(
            word {
                end(&$0, CallResult(status: 503))
                $0.connections = 1
            } == true)
        #expect(word { end(&$0, CallResult(status: 200)) } == nil, "closed since by the other side")
        #expect(word { end(&$0, CallResult(failure: .refused)) } == false)
        #expect(
            word {
                end(&$0, CallResult(failure: .timeout))
                $0.connections = 1
            } == true, "one user's call may hang")
        #expect(
            word {
                for _ in 0..<5 { end(&$0, CallResult(failure: .reset)) }
                $0.outage = OutageReport(.breaker)
            } == false, "also in an outage")
    }

    @Test("Calls that hang for one push service while another one is answered are no reason", arguments: [3, 59, 61])
    func onePushServiceHangs(seconds: Int) {
        let report = Reports.ready { report in
            report.lanes.append(Reports.ready().lanes[0])
            report.lanes[1].number = 1
            // Five calls that began ten seconds ago have just timed out, in one lane; the other one had an answer.
            report.lanes[1].meter.callEnded(
                CallResult(status: 200), service: 0, nanoseconds: 1, now: Self.now.advanced(by: .seconds(-seconds)))
            for _ in 0..<5 {
                report.lanes[0].meter.callEnded(
                    CallResult(failure: .timeout), service: 1, nanoseconds: 10_000_000_000, now: Self.now)
            }
        }
        let reasons = Readiness(report, now: Self.now).reasons.map(\.key)
        #expect(reasons == (seconds < 60 ? [] : ["backend-unreachable"]))
        #expect(Readiness(report, now: Self.now).isBackendReachable != false || seconds > 60)
    }

    @Test("The sentence of an outage fits the status")
    func sentences() {
        #expect(OutageReason.breaker.finding(status: 503).sentence.contains("status 503"))
        #expect(OutageReason.breaker.finding(status: 0).sentence.contains("no answer"))
        #expect(OutageReason.deadLetterBreaker.finding(status: 404).sentence.contains("backend.path"))
        #expect(OutageReason.deadLetterBreaker.finding(status: 413).sentence.contains("too large"))
        #expect(!OutageReason.deadLetterBreaker.finding(status: 413).sentence.contains("backend.path"))
    }

    @Test("Trouble is logged at once, and then at most once a minute for each reason, with its count")
    func troubleLog() {
        let lines = Guarded<[String]>([])
        let log = TroubleLog(warn: { text, fields in lines.withLock { $0.append("\(text) \(fields)") } })
        var counters = Counters(services: 1, requestTopics: 1)
        let before = counters
        counters.count(.unanswered(.refused), service: 0)
        log.note(counters.troubles(since: before, services: [Array("apns".utf8)]), now: Self.now)
        for second in 1...59 {
            log.note(
                [(.unanswered(.refused, service: "apns"), 10), (.deadLetters(.rejected), 2)],
                now: Self.now.advanced(by: Int64(second) * .seconds(1)))
        }
        #expect(lines.withLock { $0.count } == 2)
        log.note([], now: Self.now.advanced(by: .minutes(1)))
        #expect(lines.withLock { $0.count } == 3 && lines.withLock { $0.last?.contains("590") } == true)
    }

    @Test("Temporary failures are logged, with the name of each push service")
    func failingAnswers() {
        let lines = Guarded<[String]>([])
        let log = TroubleLog(warn: { text, fields in lines.withLock { $0.append("\(text) \(fields)") } })
        var counters = Counters(services: 2, requestTopics: 1)
        let before = counters
        for _ in 0..<3 { counters.count(.answered(.transient), service: 1) }
        counters.count(.answered(.delivered), service: 0)
        log.note(counters.troubles(since: before, services: ["apns", "wns"].map { Array($0.utf8) }), now: Self.now)
        let said = lines.withLock { $0 }
        #expect(said.count == 1 && said.first?.contains("failure that can pass") == true, "\(said)")
        #expect(said.first?.contains("wns") == true && said.first?.contains("3") == true, "\(said)")
    }

    @Test("A push service of which every call fails is a warning, instead of the lag; the worker is ready")
    func failingService() {
        func text(_ change: (inout WorkerReport) -> Void) -> String {
            String(decoding: StatusPage(Reports.ready(change), now: Self.now).readyz.body, as: UTF8.self)
        }
        let failing = text {
            $0.cluster.services.failing = [
                FailingService(name: "wns", calls: 52, end: .answered(.transient), ended: 52)
            ]
            $0.cluster.lagPerSecond = 12
        }
        #expect(failing.contains(#""ready": true"#) && failing.contains("push-service-failing"), "\(failing)")
        #expect(failing.contains("All of the last 52 calls to wns failed"), "\(failing)")
        #expect(!failing.contains("lag-growing"), "\(failing)")
        let idle = text { $0.cluster.lagPerSecond = 12 }
        #expect(idle.contains("lag-growing") && idle.contains("this is not the backend"), "\(idle)")
        let full = text {
            $0.cluster.lagPerSecond = 12
            $0.lanes[0].calls = 40
        }
        #expect(full.contains("more events arrive than the backend accepts"), "\(full)")
        let busy = text {
            $0.cluster.lagPerSecond = 12
            $0.lanes[0].calls = 3
        }
        #expect(busy.contains("the calls in flight (3 of at most 40) are not the bound"), "\(busy)")
        let kinds: [(WaitReason.Kind, String)] = [
            (.callsInFlight, "than the backend accepts"), (.totalLimit, "raise limits.perSecond"),
            (.behindUser, "a few users or one partition"), (.transactionEnds, "the brokers take outcomes more slowly"),
        ]
        for (kind, step) in kinds {
            let text = text {
                $0.cluster.lagPerSecond = 12
                $0.lanes[0].waiting = Array(repeating: 1, count: WaitReason.Kind.allCases.count)
                $0.lanes[0].waiting[Int(kind.rawValue)] = 9
            }
            #expect(text.contains(step) && text.contains("most events in memory: \(kind.word)"), "\(text)")
        }
        // What keeps it from delivering is told alone.
        let refused = text {
            $0.cluster.lagPerSecond = 12
            $0.cluster.unusable = [Reports.partition]
        }
        #expect(!refused.contains("lag-growing"), "\(refused)")
    }

    @Test(
        "A lag that grows while calls are slow names their push service, whatever events wait for but a limit",
        arguments: [WaitReason.Kind.calling, .callsInFlight, .behindUser, .transaction, .serviceLimit])
    func slowService(kind: WaitReason.Kind) {
        let report = Reports.ready {
            $0.cluster.lagPerSecond = 3
            $0.cluster.services.slow = [SlowService(name: "gcm", time: .milliseconds(7_040))]
            $0.lanes[0].waiting = Array(repeating: 0, count: WaitReason.Kind.allCases.count)
            $0.lanes[0].waiting[Int(kind.rawValue)] = 9
        }
        let text = String(decoding: StatusPage(report, now: Self.now).readyz.body, as: UTF8.self)
        let isNamed = text.contains("calls to gcm take 7 s; see why in the backend")
        #expect(text.contains("lag-growing") && isNamed == (kind != .serviceLimit), "\(text)")
        #expect(!text.contains("start more workers"), "\(text)")
    }

    @Test("A lag that grows while a part of the calls has no answer names their push service")
    func unansweredService() {
        let report = Reports.ready {
            $0.cluster.lagPerSecond = 3
            $0.cluster.services.slow = [
                SlowService(name: "gcm", time: nil), SlowService(name: "wns", time: .seconds(2)),
            ]
            $0.lanes[0].waiting = Array(repeating: 0, count: WaitReason.Kind.allCases.count)
            $0.lanes[0].waiting[Int(WaitReason.Kind.callsInFlight.rawValue)] = 9
        }
        let text = String(decoding: StatusPage(report, now: Self.now).readyz.body, as: UTF8.self)
        #expect(text.contains("calls to gcm take longer than backend.timeout; see why in the backend"), "\(text)")
    }

    @Test("Calls of which a part is refused are a warning, and in an outage are not told")
    func refusedCalls() {
        func text(_ change: (inout WorkerReport) -> Void = { _ in }) -> String {
            let report = Reports.ready {
                $0.cluster.services.refused = [RefusedCalls(name: "gcm", calls: 120, refused: 62)]
                change(&$0)
            }
            return String(decoding: StatusPage(report, now: Self.now).readyz.body, as: UTF8.self)
        }
        let refused = text()
        #expect(refused.contains(#""ready": true"#) && refused.contains(#""reason": "credentials""#), "\(refused)")
        #expect(refused.contains("62 of the 120 calls to gcm within the last minute were refused with 401 or 403"))
        #expect(!text { $0.lanes[0].outage = OutageReport(.breaker) }.contains(#""reason": "credentials""#))
    }

    @Test("A partition with a copy less is a warning that names the broker, until too few are left")
    func missingCopy() {
        func text(_ change: @escaping (inout WorkerReport) -> Void = { _ in }) -> String {
            let report = Reports.ready {
                $0.cluster.underReplicated = [Reports.partition, Reports.retry]
                $0.cluster.silentBrokers = [.init(id: 2, host: "b", port: 9_092)]
                $0.cluster.brokerCount = 3
                change(&$0)
            }
            return String(decoding: StatusPage(report, now: Self.now).readyz.body, as: UTF8.self)
        }
        let warned = text()
        #expect(warned.contains(#""ready": true"#) && warned.contains("copies-missing"), "\(warned)")
        #expect(
            warned.contains("1 of 3 brokers does not answer (b:9092), so 2 partitions have fewer copies"), "\(warned)")
        let leads = text {
            $0.cluster.silentlyLed = [Reports.retry]
            $0.cluster.silentlyCoordinated = [.groups, .transactions]
        }
        let duties =
            "; it leads 1 partition (\(Reports.retry)) and coordinates the group and transactions of this worker: that "
            + "waits until another broker takes over"
        #expect(leads.contains(duties), "\(leads)")
        #expect(warned.contains("ring the broker back") && warned.contains("fewer copies"))
        let back = text { $0.cluster.silentBrokers = [] }
        #expect(back.contains("A broker lags behind, so 2 partitions have fewer copies"), "\(back)")
        #expect(back.contains("wait: it copies what it lacks") && !back.contains("ring the broker back"), "\(back)")
        let few = text { $0.cluster.unusable = [Reports.partition] }
        #expect(few.contains("too-few-brokers") && !few.contains("copies-missing"), "\(few)")
    }

    @Test("A transaction that does not end is a warning with partition, time and command, instead of the lag")
    func openTransaction() {
        let page = StatusPage(
            Reports.ready {
                let open = OpenTransaction(
                    partition: Reports.partition, offset: 90, end: 105, since: Reports.wall, servers: "b:1")
                $0.cluster.openTransactions = [open, open]
                $0.cluster.lagPerSecond = 12
            }, now: Self.now
        ).readyz
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(page.status == 200 && text.contains("behind-open-transaction"), "\(text)")
        #expect(text.contains("notifications/0: 15 offsets wait from 90 on behind a transaction"), "\(text)")
        #expect(text.contains("1 more partition"), "\(text)")
        #expect(text.contains("abort --topic notifications --partition 0 --start-offset 90"))
        #expect(!text.contains("lag-growing"), "\(text)")
    }

    @Test("A member of the group that is not a worker is a warning with its name, host and partitions")
    func stranger() {
        let page = StatusPage(
            Reports.ready {
                $0.group = "herald"
                $0.cluster.strangers = [
                    .init(clientID: "report-job", host: "/10.0.0.7", partitionCount: 3),
                    .init(clientID: "", host: "/10.0.0.8", partitionCount: 0),
                ]
            }, now: Self.now
        ).readyz
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(page.status == 200 && text.contains("stranger-in-group"), "\(text)")
        #expect(text.contains("(client.id report-job on /10.0.0.7, 3 partitions and 1 more)"), "\(text)")
    }

    @Test("Offsets that were passed over warn for twelve hours, with the latest of them")
    func passedOver() {
        func text(hoursAgo hours: Int64, _ cause: PassedOver.Cause) -> String {
            let passed = PassedOver(
                topic: "notifications", partition: 2, cause: cause, offsets: 3..<7, stood: 9, gone: 7..<12, accepted: 2)
            let page = StatusPage(
                Reports.ready {
                    $0.lanes[0].meter.passed(passed, now: Self.now.advanced(by: -.hours(hours)))
                }, now: Self.now
            ).readyz
            #expect(page.status == 200)
            return String(decoding: page.body, as: UTF8.self)
        }
        let cut = text(hoursAgo: 1, .cut)
        #expect(cut.contains("offsets-passed-over"), "\(cut)")
        #expect(cut.contains("notifications [2] ends before offset 9"), "\(cut)")
        let gone = "offsets 7 to 11 are gone, of which 2 were read before and called, and of 3 no outcome is"
        #expect(cut.contains(gone), "\(cut)")
        #expect(text(hoursAgo: 1, .unproven).contains("offsets 3 to 6 are passed over"))
        #expect(text(hoursAgo: 1, .foreign).contains("from 3 to 7 without Herald"))
        #expect(!text(hoursAgo: 12, .cut).contains("offsets-passed-over"))
    }

    @Test("All partitions whose logs were cut off are named, the latest first, with the number of further ones")
    func passedOverInMany() {
        func text(_ count: Int32) -> String {
            let page = StatusPage(
                Reports.ready {
                    for number in [0] + Array(0..<count) {
                        $0.lanes[0].meter.passed(
                            PassedOver(
                                topic: "notifications", partition: number, cause: .cut, offsets: 0..<7, stood: 9,
                                gone: 7..<9, accepted: 2), now: Self.now.advanced(by: -.minutes(60 - Int64(number))))
                    }
                }, now: Self.now
            ).readyz
            return String(decoding: page.body, as: UTF8.self)
        }
        let few = text(3)
        #expect(few.contains("notifications [2] ends before offset 9"), "\(few)")
        let others = "; the same happened in notifications [1] (2 gone, 0 without a known outcome), notifications [0] ("
        #expect(few.contains(others), "\(few)")
        #expect(text(8).contains(" and 2 more: "))
    }

    @Test("Brokers that throttle are named at once with the quota, even as the cause of other reasons")
    func throttling() {
        func text(after seconds: Int64, _ change: (inout WorkerReport) -> Void = { _ in }) -> String {
            let page = StatusPage(
                Reports.ready {
                    var time = ThrottleTime()
                    time.note(.seconds(77), by: "1 (kafka:9092)")
                    $0.lanes[0].throttling[0].note(time, now: Self.now)
                    $0.cluster.lagPerSecond = 12
                    change(&$0)
                }, now: Self.now.advanced(by: .seconds(seconds))
            ).readyz
            return String(decoding: page.body, as: UTF8.self)
        }
        let first = text(after: 0)
        #expect(first.contains("brokers-throttle") && first.contains(#""ready": true"#), "\(first)")
        #expect(first.contains("Broker 1 (kafka:9092) throttles this worker's producer, and told it last to wait 77 s"))
        #expect(first.contains("producer_byte_rate or request_percentage") && !first.contains("lag-growing"))
        let later = text(after: 20) {
            let since = Self.now
            $0.lanes[0].at = Self.now.advanced(by: .seconds(20))
            $0.lanes[0].refusal = .init(since: since, text: "no broker answered in time")
            $0.lanes[0].commitTrouble = .init(since: since, text: "no broker answered in time")
            $0.lanes[0].outcomesWaitSince = since.advanced(by: .seconds(-20))
        }
        #expect(later.split(separator: "has for 20 s throttled").count == 5, "\(later)")
        #expect(!later.contains("disks") && !later.contains("permissions"), "\(later)")
        #expect(!text(after: 88).contains("brokers-throttle"))
        // A topic's demand is unrelated to quotas.
        let refused = text(after: 0) {
            $0.lanes[0].refusal = .init(since: Self.now, text: "it is too large", remedy: "plan", topic: "results")
        }
        #expect(refused.contains("results refuses nearly all records (it is too large): plan"), "\(refused)")
    }

    private static func faulty(_ count: Int, secondsAgo: Int64 = 0) -> FaultyRecords {
        FaultyRecords(
            topic: "notifications", fault: .noKey, count: count,
            example: .init(partition: 2, offset: 1_041, source: "shop"),
            at: Moment(
                monotonic: now.advanced(by: -secondsAgo * .seconds(1)), wall: WallTime(milliseconds: 1_700_000_000_000))
        )
    }

    @Test("Publishers' faults warn for five minutes, with their number and the last moment; the worker is ready")
    func publisherFaults() {
        func text(_ records: FaultyRecords) -> String {
            let page = StatusPage(Reports.ready { $0.cluster.faultyRecords = [records] }, now: Self.now).readyz
            #expect(page.status == 200)
            return String(decoding: page.body, as: UTF8.self)
        }
        let recent = text(Self.faulty(3))
        let what =
            "3 records of notifications have no key (notifications/2/1041, source shop), seen last at 2023-11-14T22:13:20"
        #expect(recent.contains("publisher-faults") && recent.contains(what), "\(recent)")
        #expect(recent.contains(": have their publisher set the event's user as the key."))
        #expect(!text(Self.faulty(3, secondsAgo: 300)).contains("publisher-faults"))
        #expect(text(Self.faulty(1, secondsAgo: 299)).contains("1 record of notifications has no key"))
    }

    @Test("A publisher's fault is logged at once, then at most once a minute, with the latest example")
    func publisherLog() {
        let lines = Guarded<[String]>([])
        let log = TroubleLog(warn: { text, fields in lines.withLock { $0.append("\(text) \(fields)") } })
        for second in 0..<60 {
            log.publishers([Self.faulty(2)], now: Self.now.advanced(by: Int64(second) * .seconds(1)))
        }
        log.note([], now: Self.now.advanced(by: .minutes(1)))
        let said = lines.withLock { $0 }
        #expect(said.count == 2 && said.allSatisfy { $0.hasPrefix("records of notifications have no key: ") })
        #expect(said.last?.contains("118") == true && said.last?.contains("notifications/2/1041, source shop") == true)
    }

    @Test("librdkafka's line and error about one fact, from all clients, are one line")
    func kafkaLines() {
        let said =
            "127.0.0.1:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused (after 0ms in state CONNECT"
        let line = ClientNotice(level: 3, text: "FAIL: [thrd:127.0.0.1:1/bootstrap]: \(said))", error: nil)
        let error = KafkaError(code: KafkaError.Code.transport, message: "\(said), 7 identical error(s) suppressed)")
        let notice = ClientNotice(level: 3, text: error.description, error: error)
        #expect(line.essence == notice.essence && line.essence.hasSuffix("Connection refused"))
    }

    @Test("Readiness counts the reasons for which events wait; events being called do not count")
    func waiting() {
        let report = Reports.ready {
            $0.lanes[0].waiting = Array(repeating: 0, count: WaitReason.Kind.allCases.count)
            $0.lanes[0].waiting[Int(WaitReason.Kind.calling.rawValue)] = 7
            $0.lanes[0].waiting[Int(WaitReason.Kind.behindUser.rawValue)] = 3
        }
        let page = StatusPage(report, now: Reports.now).readyz
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(text.contains(#""behind-user": 3"#) && !text.contains(#""calling""#), "\(text)")
    }

    @Test("The lag is the number of offsets between the done ones and the end")
    func lag() {
        let lags = Reports.ready().lags.map(\.offsets)
        #expect(lags == [15, 7])
        #expect(ClusterReport().lag(of: PartitionReport(Reports.partition, done: 5)) == nil)
        var cluster = ClusterReport()
        cluster.ends = [Reports.partition: 0]
        #expect(cluster.lag(of: PartitionReport(Reports.partition, done: 5)) == 0)
        #expect(cluster.lag(of: PartitionReport(Reports.partition)) == 0)
        cluster.ends = [Reports.partition: 9]
        #expect(cluster.lag(of: PartitionReport(Reports.partition)) == nil)
        // Offsets behind an open transaction count, and are reported beside it.
        #expect(cluster.unstable(Reports.partition) == nil)
        cluster.stableEnds = [Reports.partition: 4]
        #expect(cluster.lag(of: PartitionReport(Reports.partition, done: 4)) == 5)
        #expect(cluster.unstable(Reports.partition) == 5)
        cluster.stableEnds = [Reports.partition: 0]
        #expect(cluster.lag(of: PartitionReport(Reports.partition)) == 9)
    }

    @Test("The lag's growth is that of the last rounds")
    func trend() {
        var trend = LagTrend(rounds: 3)
        #expect(trend.perSecond == nil)
        var lane = LaneReport(number: 0, at: Self.now, services: 1, requestTopics: 1)
        var cluster = ClusterReport()
        func growth(at second: Int64, done: Int64?, end: Int64) -> Double? {
            lane.partitions = [PartitionReport(Reports.partition, done: done)]
            cluster.ends = [Reports.partition: end]
            trend.add([lane], cluster, at: Self.now.advanced(by: second * .seconds(1)))
            return trend.perSecond
        }
        #expect(growth(at: 0, done: 0, end: 1_000) == nil)
        #expect(growth(at: 20, done: 900, end: 1_000) == nil, "too short a time")
        #expect(growth(at: 40, done: 950, end: 1_100) == -21.25)
        #expect(growth(at: 60, done: 950, end: 1_200) == 3.75)
        // The topic was recreated, or the partitions were assigned anew: the former values belong to another log.
        lane.reading += 1
        #expect(growth(at: 80, done: 0, end: 700) == nil)
        #expect(growth(at: 120, done: 0, end: 1_100) == 10)
        // The group's position becomes known: its lag does not grow by all present offsets.
        #expect(growth(at: 140, done: nil, end: 1_100) == nil && growth(at: 180, done: nil, end: 1_100) == 0)
        #expect(growth(at: 200, done: 100, end: 1_200) == nil)
        // What came in an outage, and is there for a moment after it, has its cause.
        #expect(growth(at: 240, done: 100, end: 1_300) == 2.5)
        lane.outage = OutageReport(.breaker)
        #expect(growth(at: 260, done: 100, end: 1_400) == nil && growth(at: 280, done: 100, end: 1_500) == nil)
        lane.outage = nil
        #expect(growth(at: 300, done: 100, end: 1_600) == nil)
    }

    @Test("A lag that grew and is gone is no warning")
    func grownAndGone() {
        let page = StatusPage(
            Reports.ready {
                $0.cluster.lagPerSecond = 12
                $0.cluster.ends = [Reports.partition: 90, Reports.retry: 3]
            }, now: Self.now
        ).readyz
        #expect(!String(decoding: page.body, as: UTF8.self).contains("lag-growing"))
    }

    @Test("Counts of clients continue when a client is recreated, and their levels are the newest")
    func statistics() {
        var sum = StatisticsSum()
        var lane = LaneReport(number: 0, at: Self.now, services: 1, requestTopics: 1)
        for (requests, queued) in [(10, 1), (15, 2), (3, 4)] {
            lane.statistics.producer = Array(#"{"tx":\#(requests),"msg_cnt":\#(queued)}"#.utf8)
            lane.statistics.number += 1
            sum.add([lane])
            sum.add([lane])
        }
        #expect(sum.producers.requests == 18 && sum.producers.recordsQueued == 4 && sum.consumers == ClientStatistics())
    }
}
