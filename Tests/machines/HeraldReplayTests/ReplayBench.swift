import HeraldBytes
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldReplay

/// Concurrent jobs on topics in memory, one action or input at a time, with faults and kills between any two.
struct ReplayBench {
    /// A job's process.
    private struct Process {
        let job: String
        var machine: ReplayMachine
        var actions: [ReplayMachine.Action] = []
        var reports: [BatchWriter.Report] = []
        var epoch = 0
        var offered: [OutgoingRecord] = []
        /// The commit that was made without the process's knowledge.
        var madeCommit: UInt64?
        var nextLetter: Int64 = 0
        var isGathering = false
        var isWatching = false
        var stateNews: Bool = false
        var nextOutcome: Int
    }

    private let count: Int64
    private let sees: Bool
    private var generator: SplitMix64
    private var now = MonotonicTime(nanoseconds: 0)
    private var state: [(key: String, value: [UInt8]?)] = []
    private var outcomes: [Int64] = []
    private var epoch = 0
    private var jobCount = 0
    private var processes: [Process] = []

    /// The number of replays of each dead letter.
    private(set) var published: [Int64: Int] = [:]
    private(set) var ends: [PublicationEnd] = []
    var hasFaults = true

    /// - Parameter sees: whether processes can see that others live, as on one machine.
    init(letters count: Int64, seed: UInt64, sees: Bool) {
        self.count = count
        self.sees = sees
        generator = SplitMix64(seed: seed)
    }

    var isDone: Bool { published.count == Int(count) }
    var isOver: Bool { isDone && processes.isEmpty }

    /// Takes one turn: a step of a job, a kill or a start.
    mutating func turn() throws {
        switch draw(100) {
        case 0...1 where !processes.isEmpty: processes.remove(at: draw(processes.count))
        case 2...4 where processes.count < 2, 5... where processes.isEmpty: start()
        default: if !processes.isEmpty { try step(draw(processes.count)) }
        }
    }

    /// Runs one more job to its end, without faults or rivals.
    mutating func finish() throws {
        (processes, hasFaults) = ([], false)
        start()
        for _ in 0..<100_000 where !processes.isEmpty { try step(0) }
        #expect(processes.isEmpty, "it does not end")
    }

    private mutating func draw(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

    private var moment: Moment {
        Moment(
            monotonic: now, wall: SampleEntry.moment.advanced(by: .milliseconds(60_000 + now.nanoseconds / 1_000_000)))
    }

    private var known: KnownState {
        var known = KnownState()
        for (offset, record) in state.enumerated() {
            _ = known.add(key: Array(record.key.utf8), value: record.value, partition: 0, offset: Int64(offset))
        }
        return known
    }

    private mutating func start() {
        let context = ReplayScript.context()
        var plan = ReplayPlan()
        let marks = known.marks
        for offset in 0..<count {
            var entry = ReplayScript.letter(offset)
            plan.add(entry, context.rules.decision(for: &entry, marks, now: moment.wall))
        }
        guard plan.count > 0 else { return }
        var options = ReplayOptions()
        options.ramp = Ramp(steps: [1, 3])
        jobCount += 1
        let job = "replay-\(jobCount)"
        processes.append(
            Process(
                job: job,
                machine: ReplayMachine(
                    LetterPublication(
                        .replay(plan, context.rules, options), context, job: job, process: ReplayScript.process),
                    writer: BatchWriter.Configuration(transactionTimeout: .seconds(10))),
                nextOutcome: outcomes.count))
    }

    // MARK: One step

    private mutating func step(_ index: Int) throws {
        if !processes[index].actions.isEmpty {
            perform(processes[index].actions.removeFirst(), index)
        } else {
            try deliver(index)
            processes[index].machine.advance(now: moment)
            processes[index].actions += processes[index].machine.takeActions()
        }
        guard processes[index].machine.isOver else { return }
        if let end = processes[index].machine.end { ends.append(end) }
        processes.remove(at: index)
    }

    private mutating func deliver(_ index: Int) throws {
        if processes[index].stateNews || processes[index].isWatching {
            processes[index].stateNews = false
            let known = known
            processes[index].machine.stateRead(known, holder: life(known.lease), now: moment)
            if processes[index].machine.phase.name != .watching { processes[index].isWatching = false }
        }
        if !processes[index].reports.isEmpty {
            return processes[index].machine.receive(processes[index].reports.removeFirst(), now: moment)
        }
        while processes[index].nextOutcome < outcomes.count {
            let offset = outcomes[processes[index].nextOutcome]
            processes[index].nextOutcome += 1
            processes[index].machine.receive(try ReplayScript.result(of: offset))
        }
        if hand(index) { return }
        // No actions are left: time passes.
        now = now.advanced(by: .milliseconds(draw(2_000)))
    }

    private mutating func hand(_ index: Int) -> Bool {
        guard processes[index].machine.mayTakeLetter else { return false }
        guard processes[index].nextLetter < count else {
            processes[index].machine.lettersEnded()
            return true
        }
        if processes[index].machine.hasLetters, draw(8) == 0 {
            processes[index].machine.lettersPaused()
            return true
        }
        var entry = ReplayScript.letter(processes[index].nextLetter)
        processes[index].nextLetter += 1
        processes[index].machine.take(&entry, now: moment)
        return true
    }

    private func life(_ lease: Lease?) -> Lease.Life {
        guard let lease, sees else { return .unknown }
        return processes.contains { $0.job == lease.job } ? .living : .ended
    }

    private mutating func perform(_ action: ReplayMachine.Action, _ index: Int) {
        switch action {
        case .write(.claim):
            epoch += 1
            processes[index].epoch = epoch
            processes[index].reports = [.transaction(.ready(lateClaims: 0))]
        case .write(.produce(let records)):
            processes[index].offered = records
            processes[index].reports.append(.produced)
        case .write(.commit(let number, _)): commit(number, index)
        case .write(.abort): processes[index].reports.append(.transaction(.aborted(nil, .acknowledged)))
        case .readState: processes[index].stateNews = true
        case .watchState: processes[index].isWatching = true
        case .startLetters: processes[index].nextLetter = 0
        case .gather: break
        }
    }

    private mutating func commit(_ number: UInt64, _ index: Int) {
        func answer(_ error: KafkaError?) -> BatchWriter.Report {
            .transaction(.committed(sequence: number, error, error?.outcome ?? .acknowledged))
        }
        guard processes[index].epoch == epoch else {
            processes[index].reports.append(answer(ReplayScript.fence))
            return
        }
        let fault = hasFaults ? draw(12) : 11
        switch fault {
        case 0:
            processes[index].reports.append(answer(KafkaError(code: KafkaError.Code.state)))
        case 1:
            make(number, index)
            processes[index].reports.append(answer(KafkaError(code: KafkaError.Code.state)))
        case 2:
            make(number, index)
            processes[index].reports.append(answer(ReplayScript.timeOut))
        case 3:
            guard processes[index].madeCommit != number else { fallthrough }
            processes[index].reports += [
                .undelivered(ReplayScript.timeOut), answer(KafkaError(code: KafkaError.Code.state, isAbortable: true)),
            ]
        default:
            make(number, index)
            processes[index].reports.append(answer(nil))
        }
    }

    /// Makes the transaction visible, once.
    private mutating func make(_ number: UInt64, _ index: Int) {
        guard processes[index].madeCommit != number else { return }
        processes[index].madeCommit = number
        var replayed: Set<Int64> = []
        var marked: Set<Int64> = []
        for record in processes[index].offered {
            switch record.topic {
            case Topics().state:
                let key = String(decoding: record.key ?? [], as: UTF8.self)
                #expect(key == Lease.key || !state.contains { $0.key == key }, "\(key) is written twice")
                state.append((key, record.value))
                if let mark = record.value.flatMap({ MarkRecord(decoding: $0) }) { mark.visit { marked.insert($1) } }
            case Topics().audit: break
            default:
                let text = record.headers.lastValue(named: HeaderName.origin.literal)?.text
                guard let text, let offset = Origin(text)?.offset else { continue }
                replayed.insert(offset)
                published[offset, default: 0] += 1
                outcomes.append(offset)
            }
        }
        #expect(replayed == marked, "records and marks")
    }
}

@Suite("Jobs on dead letters that are killed, fenced and in doubt")
struct ReplayKillTests {
    @Test(
        "However often concurrent jobs are killed and started, each letter is replayed exactly once",
        arguments: [true, false])
    func kills(sees: Bool) throws {
        var takenOver = 0
        var complete = 0
        for seed in 0..<60 as Range<UInt64> {
            var bench = ReplayBench(letters: 16, seed: seed, sees: sees)
            for _ in 0..<2_000 where !bench.isOver {
                try bench.turn()
                #expect(bench.published.values.allSatisfy { $0 == 1 }, "seed \(seed)")
            }
            try bench.finish()
            #expect(bench.isDone && bench.published.values.allSatisfy { $0 == 1 }, "seed \(seed)")
            takenOver += bench.ends.count { $0 == .takenOver }
            complete += bench.ends.count { $0 == .complete }
        }
        #expect(complete > 20 && (sees || takenOver > 0), "\(complete) complete, \(takenOver) taken over")
    }
}
