import Foundation
import HeraldBytes
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldReplay

/// A machine with its time, and its wanted actions as words.
struct ReplayScript {
    static let process = ProcessIdentity(boot: "b", namespace: "n", id: 1, started: "1")
    static let timeOut = KafkaError(code: KafkaError.Code.timedOut)
    static let fence = KafkaError(code: KafkaError.Code.fenced, isFatal: true)

    var machine: ReplayMachine
    /// The records of the state topic.
    var state: [(key: String, value: [UInt8]?)] = []
    private(set) var now = MonotonicTime(nanoseconds: 0)
    private var sequence: UInt64 = 0
    /// The records of the transaction under way.
    private(set) var offered: [OutgoingRecord] = []

    /// A job on dead letters with these offsets of partition 2.
    init(
        _ offsets: Range<Int64> = 0..<3, job: String = "replay-1", foreign: ForeignTopic? = nil,
        _ change: (inout ReplayOptions, inout ReplayRules) -> Void = { _, _ in }
    ) {
        let context = Self.context(foreign: foreign)
        var options = ReplayOptions()
        var rules = context.rules
        options.selection = "status = 503"
        change(&options, &rules)
        var plan = ReplayPlan()
        for offset in offsets {
            var entry = Self.letter(offset, isForeign: foreign != nil)
            plan.add(entry, rules.decision(for: &entry, MarkIndex(), now: SampleEntry.moment))
        }
        self.init(.replay(plan, rules, options), context, job: job)
    }

    init(_ order: LetterPublication.Order, _ context: ReplayContext = Self.context(), job: String = "replay-1") {
        machine = ReplayMachine(
            LetterPublication(order, context, job: job, process: Self.process),
            writer: BatchWriter.Configuration(transactionTimeout: .minutes(1)))
    }

    static func context(foreign: ForeignTopic? = nil) -> ReplayContext {
        var context = ReplayContext(
            topics: Topics(), readerProperties: [], writerProperties: [], auditProperties: [], decoder: RecordDecoder(),
            maximumReplays: 5, operatorName: "ann@web1")
        context.foreign = foreign
        return context
    }

    static func letter(_ offset: Int64, isForeign: Bool = false) -> DeadLetterEntry {
        if isForeign {
            var entry = ForeignSample.spring()
            entry.fill(
                partition: 2, offset: offset, timestamp: entry.timestamp, key: entry.key, value: entry.value,
                headers: entry.headers)
            return entry
        }
        return SampleEntry.make(
            offset: offset,
            ["herald-id": "e\(offset)", "herald-pns": "apns", "herald-origin": "notifications/3/\(offset)"])
    }

    static let pause = ReplayPause(by: "bob@desk", since: SampleEntry.moment)

    /// The kind of the reason for which the job waits.
    var waits: JobWaitReason.Kind? { machine.waiting(now: moment)?.kind }

    // MARK: Shortcuts

    /// A script whose machine works: the lease is its own.
    static func working(
        _ offsets: Range<Int64> = 0..<3, foreign: ForeignTopic? = nil,
        _ change: (inout ReplayOptions, inout ReplayRules) -> Void = { _, _ in }
    ) -> Self {
        var script = Self(offsets, foreign: foreign, change)
        script.open()
        return script
    }

    mutating func open() {
        pass(0)
        read(.ended)
        ready()
        read(.ended)
        commit()
        pass(0)
        _ = take()
    }

    /// A script whose canary's transaction is under way.
    static func writing(_ offsets: Range<Int64> = 0..<3) -> Self {
        var script = working(offsets)
        script.hand(offsets.lowerBound)
        script.pass(0)
        return script
    }

    // MARK: Inputs

    /// The name is lost, or a commit is in doubt: after a pause the name is claimed again, and the state is read.
    mutating func recover(_ error: KafkaError, _ isMade: Bool, _ holder: Lease.Life = .living) {
        commit(error, isMade)
        pass(ReplayMachine.restTime.count)
        ready()
        read(holder)
    }

    var moment: Moment {
        Moment(
            monotonic: now, wall: SampleEntry.moment.advanced(by: .milliseconds(60_000 + now.nanoseconds / 1_000_000)))
    }

    mutating func pass(_ milliseconds: Int64) {
        now = now.advanced(by: .milliseconds(milliseconds))
        machine.advance(now: moment)
        note()
    }

    /// Reads the state topic to its end.
    mutating func read(_ holder: Lease.Life) {
        var known = KnownState()
        for (offset, record) in state.enumerated() {
            _ = known.add(key: Array(record.key.utf8), value: record.value, partition: 0, offset: Int64(offset))
        }
        machine.stateRead(known, holder: holder, now: moment)
        note()
    }

    /// Writes another job's lease.
    mutating func lease(of job: String, beat: Int = 1, isOver: Bool = false) {
        var lease = Lease(
            job: job, owner: "bob@far", process: Self.process, work: "replay", since: SampleEntry.moment.milliseconds)
        (lease.beat, lease.isOver) = (beat, isOver)
        state.append((Lease.key, RecordJSON.encoded(lease)))
    }

    mutating func report(_ report: BatchWriter.Report) {
        machine.receive(report, now: moment)
        note()
    }

    mutating func ready() { report(.transaction(.ready(lateClaims: 0))) }

    /// Commits the transaction under way.
    mutating func commit() {
        report(.produced)
        keep()
        report(.transaction(.committed(sequence: sequence, nil, .acknowledged)))
    }

    /// Answers the commit under way with an error; `isMade` says whether the broker has made it.
    mutating func commit(_ error: KafkaError, _ isMade: Bool) {
        report(.produced)
        if isMade { keep() }
        report(.transaction(.committed(sequence: sequence, error, error.outcome)))
    }

    /// Adds the written records to the state topic.
    private mutating func keep() {
        for record in offered where record.topic == Topics().state {
            state.append((String(decoding: record.key ?? [], as: UTF8.self), record.value))
        }
    }

    /// Refuses a record as too large; the abort succeeds.
    mutating func refuse(_ code: Int32 = KafkaError.Code.messageSizeTooLarge) {
        report(.undelivered(KafkaError(code: code)))
        report(.produced)
        report(
            .transaction(
                .committed(sequence: sequence, KafkaError(code: code, isAbortable: true), .abortable)))
        report(.transaction(.aborted(nil, .acknowledged)))
    }

    /// Hands over letters as far as they are accepted; returns the rest.
    @discardableResult
    mutating func hand(_ offsets: Int64..., isForeign: Bool = false) -> [Int64] {
        var left = offsets[...]
        while let offset = left.first, machine.mayTakeLetter {
            var entry = Self.letter(offset, isForeign: isForeign)
            machine.take(&entry, now: moment)
            left.removeFirst()
        }
        return Array(left)
    }

    mutating func outcome(_ offset: Int64, _ outcome: String = "delivered") throws {
        machine.receive(try Self.result(of: offset, outcome))
    }

    /// A letter's first replay goes to a retry topic, until its user's quiet hours end if it waits for these.
    mutating func sleeps(_ offset: Int64, until moment: WallTime?) {
        machine.receive(
            RetriedEvent(
                origin: Origin(topic: "notifications", partition: 3, offset: offset), replays: 1,
                pushServices: ["apns"],
                quietUntil: moment))
    }

    /// The result of a letter's first replay.
    static func result(of offset: Int64, _ outcome: String = "delivered") throws -> NotificationResult {
        try NotificationResult(
            decoding: Array(
                """
                {"id":"e","pns":"apns","user":"ann","outcome":"\(outcome)","replays":1,\
                "completedAt":"2026-11-21T08:40:26Z",\
                "origin":{"topic":"notifications","partition":3,"offset":\(offset)}}
                """.utf8))
    }

    mutating func stop() {
        machine.stop(now: moment)
        note()
    }

    // MARK: Wanted actions

    private var words: [String] = []

    mutating func take() -> [String] {
        note()
        defer { words = [] }
        return words
    }

    private mutating func note() {
        for action in machine.takeActions() {
            switch action {
            case .write(.claim): words.append("claim")
            case .write(.produce(let records)):
                offered = records
                words.append(records.map(Self.word).joined(separator: " "))
            case .write(.commit(let number, _)):
                sequence = number
                words.append("commit")
            case .write(.abort): words.append("abort")
            case .readState(let isWhole): words.append(isWhole ? "read" : "look")
            case .watchState: words.append("watch")
            case .startLetters: words.append("start")
            case .gather: words.append("gather")
            }
        }
    }

    private static func word(_ record: OutgoingRecord) -> String {
        let key = String(decoding: record.key ?? [], as: UTF8.self)
        switch record.topic {
        case Topics().state:
            if let lease = record.value.flatMap({ Lease(decoding: $0) }), key == Lease.key {
                return lease.isOver ? "free" : "lease"
            }
            let mark = record.value.flatMap { MarkRecord(decoding: $0) }
            return "\(key.split(separator: "/").last ?? ""):\(mark?.partitions["2"] ?? "")"
        case Topics().audit:
            let entry = record.value.flatMap { try? JSONDecoder().decode(AuditEntry.self, from: Data($0)) }
            return entry?.end ?? entry?.phase ?? "?"
        default: return record.headers.lastValue(named: HeaderName.id.literal)?.text ?? "letter"
        }
    }
}
