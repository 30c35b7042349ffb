import HeraldBytes
import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldReplay
import HeraldTime
import HeraldTools

/// The operators' work on dead letters, and the knowledge of readers of the state topic.
struct ReplayWorld {
    /// The next offset of each partition of the state topic.
    var positions: [Int64] = []
    var known = KnownState()
    /// Without further faults of jobs: one last job replays the rest.
    var isFinishing = false
    /// The ends of its letters: an unreadable one becomes a new dead letter with each replay.
    var lastEnds: [Int64] = []
    /// The number of starts after a broker has prevented its end.
    var lastStarts = 0
    var isDone = false
    /// The holder of the latest lease: a job that was fenced by it writes nothing more.
    var holder = ""
    /// The jobs that have begun.
    var begun: Set<String> = []
    /// The jobs whose rules include replayed letters.
    var again: Set<String> = []
}

/// Operators that replay dead letters, and the jobs' faults.
extension Simulation {
    private static let operators = Process(.replay, 0)
    private static let mostLastStarts = 40

    var areReplaysDone: Bool { replays.isEmpty || replayWorld.isDone }

    func scheduleReplays() {
        guard !replays.isEmpty else { return }
        for _ in 0..<scenario.replayFaults {
            schedule(.replayFault, after: self[Self.operators][.jobFault].between(3_000, 3 * Self.faultTime))
        }
        schedule(.finishReplays, after: 3 * Self.faultTime)
    }

    // MARK: Topics

    private func index(of topic: String) -> Int { cluster.number(of: topic) ?? 0 }

    /// The dead-letter topic's number.
    var letterTopic: Int { index(of: scenario.topics.deadLetter) }

    private var statePlaces: [Place] {
        (0..<scenario.partitions).map { Place(topic: index(of: scenario.topics.state), partition: $0) }
    }

    /// The state topic's content for a reader of committed records.
    func knownState() -> KnownState {
        let places = statePlaces
        if replayWorld.positions.isEmpty { replayWorld.positions = places.map { _ in 0 } }
        for (partition, place) in places.enumerated() {
            while partition < replayWorld.positions.count,
                let name = nextRecord(place, from: &replayWorld.positions[partition]),
                let record = cluster.record(name)
            {
                _ = replayWorld.known.add(
                    key: record.key ?? [], value: record.value, partition: Int32(partition), offset: name.offset)
            }
        }
        return replayWorld.known
    }

    /// Lets a replay read the state topic, perhaps through all transactions that are open now.
    func tellState(_ process: Process, question: Int, isWhole: Bool, _ ends: [Int64]?) {
        let places = statePlaces
        let wanted = ends ?? places.map { isWhole ? Int64(cluster[$0].records.count) : 0 }
        let isThere = zip(places, wanted).allSatisfy { place, end in
            cluster[place].leaderlessUntil <= now && cluster[place].lastStable >= end
        }
        guard isThere else { return again(.state(question: question, isWhole: isWhole, ends: wanted), of: process) }
        tell(process, .job(.state(question: question, knownState())))
    }

    /// The state of the lease's process, for others on the same machine.
    func life(of lease: Lease?) -> Lease.Life {
        guard let lease else { return .ended }
        guard Choices(seed: scenario.seed).once(in: 2, for: "replay.sees") else { return .unknown }
        return replays.contains { $0.isRunning && $0.job == lease.job } ? .living : .ended
    }

    /// The dead letter in a log.
    func letter(_ name: RecordName) -> DeadLetterEntry? {
        guard let record = cluster.record(name) else { return nil }
        var entry = DeadLetterEntry(decoder: RecordDecoder(pushServices: scenario.pushServices))
        entry.fill(
            partition: Int32(name.place.partition), offset: name.offset,
            timestamp: WallTime(milliseconds: record.timestamp), key: record.key, value: record.value,
            headers: record.headers)
        return entry
    }

    // MARK: Records

    /// The original request of a record.
    ///
    /// For recreated topics it is the one with that record.
    private func source(of headers: HeaderList, _ value: [UInt8]?) -> RecordName? {
        let parts = (headers.text(.origin) ?? "").split(separator: "/")
        guard parts.count == 3, let partition = Int(parts[1]), let offset = Int64(parts[2]) else { return nil }
        let names = cluster.topics.indices.filter { cluster.topics[$0] == parts[0] }.reversed().map {
            RecordName(place: Place(topic: $0, partition: partition), offset: offset)
        }
        // An aborted one may look the same.
        return names.first { cluster.record($0)?.value == value && !checkers.duties(of: $0).isEmpty } ?? names.first
    }

    /// A job's record in the form of a log; `nil` for an event of unknown origin.
    func logRecord(_ record: OutgoingRecord, at moment: Moment) -> LogRecord? {
        var written = LogRecord(
            key: record.key, value: record.value, headers: record.headers, timestamp: moment.wall.milliseconds)
        guard scenario.topics.requests.contains(record.topic) else { return written }
        guard let source = source(of: record.headers, record.value).flatMap({ cluster.record($0) }) else { return nil }
        (written.user, written.event, written.size) = (source.user, source.event, source.size)
        return written
    }

    /// The place of a job's record: an event goes to its user's partition, like a publisher's.
    func place(of record: OutgoingRecord, _ written: LogRecord) -> Place {
        let isEvent = scenario.topics.requests.contains(record.topic)
        return Place(
            topic: index(of: record.topic),
            partition: (isEvent ? written.user : Int(record.key?.last ?? 0)) % scenario.partitions)
    }

    /// The dead letters that are marked as replayed beside these records.
    func replayed(in records: [OutgoingRecord]) -> Set<RecordName> {
        var letters: Set<RecordName> = []
        for record in records where record.topic == scenario.topics.state {
            guard let mark = record.value.flatMap({ MarkRecord(decoding: $0) }), mark.state == .replayed else {
                continue
            }
            mark.visit { partition, offset in
                letters.insert(
                    RecordName(place: Place(topic: letterTopic, partition: Int(partition)), offset: offset))
            }
        }
        return letters
    }

    // MARK: Operators, and faults of jobs

    private func startReplay(isLast: Bool) {
        guard let idle = replays.first(where: { !$0.isRunning }) else { return }
        var chance = Chance(seed: self[Self.operators][.jobStart].bits())
        var context = ReplayContext(
            topics: scenario.topics, readerProperties: [], writerProperties: [], auditProperties: [],
            decoder: RecordDecoder(pushServices: scenario.pushServices),
            maximumReplays: Choices(seed: scenario.seed).pick([1, 2, 4], for: "replay.maximum"),
            operatorName: "operator")
        context.trace = nil
        let marks = knownState().marks
        var rules = context.rules
        var options = ReplayOptions()
        let kind = isLast ? 9 : chance.below(10)
        rules.isAgain = kind == 0
        options.isAgain = kind == 0
        rules.hasFreshKey = kind == 1
        if kind == 2 { rules.onlyPushServices = [scenario.pushServices.names[0]] }
        options.ramp = Ramp(steps: isLast ? [] : chance.pick([[1], [1, 3], [2], [40]]))
        options.stopShare = isLast ? 1 : chance.pick([0, 0.2, 1])
        options.patience = .seconds(isLast ? 1 : Int(chance.pick([5, 60])))
        options.rate = isLast ? nil : chance.pick([nil, nil, 5])
        var plan = ReplayPlan()
        var resolved = ResolvePlan()
        var letters: [RecordName] = []
        for partition in 0..<cluster.partitions {
            let place = Place(topic: letterTopic, partition: partition)
            var offset = cluster[place].start
            let end = isLast ? partition < replayWorld.lastEnds.count ? replayWorld.lastEnds[partition] : 0 : .max
            while cluster.seek(place, from: &offset), offset < end {
                if var entry = letter(RecordName(place: place, offset: offset)) {
                    let decision = rules.decision(for: &entry, marks, now: moment.wall)
                    plan.add(entry, decision)
                    if case .replay = decision { letters.append(RecordName(place: place, offset: offset)) }
                    if offset % 5 == 0 { resolved.add(entry, marks) }
                }
                offset += 1
            }
        }
        if isLast, plan.count == 0 {
            replayWorld.isDone = true
            return
        }
        if rules.isAgain { replayWorld.again.insert(nextJob(of: idle)) }
        let work: LetterPublication.Order =
            kind == 3 ? .resolve(resolved, selection: "some", note: nil) : .replay(plan, rules, options)
        idle.start(work, context, letters: letters)
    }

    private func nextJob(of replay: SimulatedReplay) -> String {
        SimulatedReplay.job(replay.process.index, replay.life + 1)
    }

    func performReplayFault() {
        let running = replays.filter { $0.isRunning && $0.frozenUntil == nil }
        let kind = self[Self.operators][.jobFault].below(scenario.retentions > 0 ? 13 : 12)
        guard kind > 4, !running.isEmpty else { return startReplay(isLast: false) }
        let replay = self[Self.operators][.jobFault].pick(running)
        switch kind {
        case 5: replay.kill()
        case 6: replay.stop()
        case 7: replay.freeze()
        case 8, 9:
            replay.pause(true)
            schedule(.resumeReplay(replay.process), after: self[Self.operators][.jobFault].between(100, 60_000))
        case 10:
            log("another process claims the name of replays")
            _ = cluster.initialise(SimulatedReplay.transactionalID)
            cluster.rivalled.insert(SimulatedReplay.transactionalID)
            announceDecided()
        case 12:
            let place = Place(
                topic: letterTopic, partition: self[Self.operators][.jobFault].below(cluster.partitions))
            let offset = self[Self.operators][.jobFault].between(cluster[place].start, cluster[place].lastStable)
            cluster[place].start = offset
            log("\(cluster.name(place)) begins at \(offset) now")
        default:
            let place = self[Self.operators][.jobFault].pick(statePlaces)
            loseLeader(place, for: self[Self.operators][.jobFault].between(500, 20_000))
        }
    }

    func resumeReplay(_ process: Process) {
        guard let replay = replays.first(where: { $0.process == process && $0.isRunning }) else { return }
        replay.pause(false)
    }

    /// Replays the rest when all else is quiet, until no letter is left.
    func finishReplays() {
        guard !replayWorld.isDone else { return }
        defer { schedule(.finishReplays, after: 10_000) }
        guard !replays.contains(where: \.isRunning), published >= scenario.events, cluster.unsettled == nil else {
            return
        }
        if !replayWorld.isFinishing {
            replayWorld.isFinishing = true
            replayWorld.lastEnds = (0..<cluster.partitions).map {
                cluster[Place(topic: letterTopic, partition: $0)].lastStable
            }
        }
        replayWorld.lastStarts += 1
        guard replayWorld.lastStarts <= Self.mostLastStarts else {
            return checkers.fail("\(Self.mostLastStarts) replays in a row have not replayed what is left")
        }
        startReplay(isLast: true)
    }

    // MARK: Each dead letter is replayed once

    /// Checks a job's commit: its events and marks belong to the same letters, and to none that was dealt with.
    func checkReplay(of transaction: Transaction) {
        var events: [[UInt8]] = []
        var marked: [[UInt8]] = []
        for name in transaction.jobRecords {
            guard let record = cluster.record(name) else { continue }
            let topic = cluster.topics[name.place.topic]
            if topic == scenario.topics.state, record.key?.elementsEqual(Lease.key.utf8) == true {
                checkLease(record)
            } else if scenario.topics.requests.contains(topic) {
                events.append(Array((record.headers.text(.origin) ?? "").utf8))
                adopt(name, record)
            } else if topic == scenario.topics.state, record.key?.starts(with: "marks/".utf8) == true {
                guard let mark = record.value.flatMap({ MarkRecord(decoding: $0) }), let key = record.key else {
                    return checkers.fail("\(checkers.text(name)) is no mark")
                }
                if !checkers.markKeys.insert(key).inserted {
                    checkers.fail("the mark \(String(decoding: key, as: UTF8.self)) is there twice")
                }
                mark.visit { partition, offset in
                    let letter = RecordName(
                        place: Place(topic: letterTopic, partition: Int(partition)), offset: offset)
                    check(letter, mark)
                    if mark.state == .replayed {
                        marked.append(Array((cluster.record(letter)?.headers.text(.origin) ?? "").utf8))
                    }
                }
            }
        }
        let sort = { (texts: [[UInt8]]) in texts.sorted { $0.lexicographicallyPrecedes($1) } }
        if sort(events) != sort(marked) {
            checkers.fail("a transaction has \(events.count) replays and marks \(marked.count), or others")
        }
    }

    /// Once another job has begun, a job writes nothing more.
    private func checkLease(_ record: LogRecord) {
        guard let lease = record.value.flatMap({ Lease(decoding: $0) }) else {
            return checkers.fail("a lease can't be read")
        }
        if lease.job != replayWorld.holder, !replayWorld.begun.insert(lease.job).inserted {
            checkers.fail("\(lease.job) writes, and the lease is that of \(replayWorld.holder)")
        }
        replayWorld.holder = lease.job
    }

    /// Checks a job's report that its whole plan is dealt with.
    func checkReplayed(_ letters: [RecordName], by process: Process) {
        for name in letters where !isDealtWith(name) {
            checkers.fail("\(process) is complete, and \(checkers.text(name)) was not replayed")
        }
    }

    /// Whether a letter is replayed, resolved, expired or gone.
    func isDealtWith(_ name: RecordName) -> Bool {
        if name.offset < cluster[name.place].start { return true }
        if checkers.replayedServices[name] != nil || checkers.resolved.contains(name) { return true }
        guard var entry = letter(name), let expiry = entry.expiresAt() else { return false }
        return expiry <= moment.wall
    }

    private func check(_ letter: RecordName, _ mark: MarkRecord) {
        if mark.state == .resolved {
            checkers.resolved.insert(letter)
            return
        }
        if !checkers.replayed[mark.job, default: []].insert(letter).inserted {
            checkers.fail("\(mark.job) replays \(checkers.text(letter)) twice")
        }
        let all = (cluster.record(letter)?.headers.text(.pushServices) ?? "").split(separator: ",").map(String.init)
        let services = mark.pns ?? (all.isEmpty ? [""] : all)
        let before = checkers.replayedServices[letter] ?? []
        if !replayWorld.again.contains(mark.job) {
            if !before.isDisjoint(with: services) {
                checkers.fail("\(mark.job) replays \(checkers.text(letter)) for \(services), as was done for \(before)")
            }
            if checkers.resolved.contains(letter) {
                checkers.fail("\(mark.job) replays \(checkers.text(letter)), which was resolved")
            }
        }
        checkers.replayedServices[letter] = before.union(services)
    }

    /// Adds a replayed event to those that have to get results.
    private func adopt(_ name: RecordName, _ record: LogRecord) {
        let services = (record.headers.text(.pushServices) ?? "").split(separator: ",").compactMap {
            scenario.pushServices.names.firstIndex(of: String($0))
        }
        let source = source(of: record.headers, record.value)
        let former = source.flatMap { checkers.duties(of: $0).first }.map { checkers.duties[$0] }
        cluster[name.place].records[Int(name.offset)].duties = checkers.published(
            name, record, services: services.isEmpty ? [-1] : services, campaign: former?.campaign,
            subject: former?.subject ?? Subject(), source: source)
    }
}
