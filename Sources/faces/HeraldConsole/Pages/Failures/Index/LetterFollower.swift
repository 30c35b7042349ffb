internal import HeraldEvents
internal import HeraldKafka
internal import HeraldReplay
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTools

/// Reads the dead-letter topic once and follows it, together with the marks and the outcomes of replays.
///
/// It survives absent brokers and recreated topics by starting again. Any thread may use it.
final class LetterFollower: Sendable {
    struct Snapshot: Sendable {
        var status = FollowerStatus.reading(passed: 0, total: 0)
        var index: LetterIndex
        var marks = MarkIndex()
        var outcomes = ReplayOutcomes()
        /// Whether there is a state topic: without one nothing was replayed.
        var hasState = true
        var lease = LeaseWatch()
    }

    /// The number of dead letters remembered, in 72 bytes each, the newest.
    private static let letterLimit = 5_000_000
    /// The longest wait for a record, so that stops and marks get their turn.
    private static let wait: Milliseconds = .milliseconds(200)
    private static let pause = Duration.seconds(2)
    private static let newsInterval = Duration.seconds(1)
    private static let surveyInterval = Duration.seconds(30)
    /// A client may keep asking a leader that has moved: after this time another client takes over.
    private static let readerPatience = Duration.seconds(10)

    private let context: ConsoleContext
    private let state: Guarded<Snapshot>
    private let end: Wakeup
    private let thread = Guarded<OwnThread?>(nil)
    private let onNews: @Sendable (Snapshot) -> Void

    /// - Parameter onNews: called from time to time with the current snapshot, from its thread.
    init(
        _ context: ConsoleContext, onNews: @escaping @Sendable (Snapshot) -> Void
    ) throws(SystemError) {
        self.context = context
        self.onNews = onNews
        state = Guarded(Snapshot(index: LetterIndex(limit: Self.letterLimit)))
        end = try Wakeup()
    }

    /// The current knowledge; cheap, because nothing is copied before it changes.
    var snapshot: Snapshot { state.withLock { $0 } }

    func start() throws {
        let begun = try OwnThread(name: "dead-letters") { [self] in run() }
        thread.withLock { $0 = begun }
    }

    func stop() {
        end.signal()
        thread.withLock { $0 }?.join()
    }

    private func run() {
        while !isStopping {
            do {
                try follow()
            } catch {
                let words = (error as? KafkaError)?.words ?? "\(error)"
                state.withLock { $0.status = .failed(SafeText.escaped(words)) }
                onNews(snapshot)
                _ = end.wait(for: Self.pause)
            }
        }
    }

    private var isStopping: Bool { end.wait(for: .zero) }

    // MARK: - One round

    /// Reads everything and follows until an error or a stop.
    private func follow() throws {
        let replayer = try context.replayer(isWriting: false)
        let reader = try replayer.context.deadLetters(patience: Self.readerPatience)
        defer { reader.close() }
        let marks = try replayer.context.state(replayer.layout)
        defer { marks?.close() }
        let starts = try begin(replayer, reader)
        try marks?.catchUp()
        note(marks)
        try reader.follow(from: starts)
        var (lastNews, lastSurvey) = (ContinuousClock.now, ContinuousClock.now)
        var results: ResultsReader?
        defer { results?.close() }
        var isBusy = false
        while !isStopping {
            isBusy = try poll(reader, wait: isBusy ? .zero : Self.wait)
            if let marks, try marks.poll() { note(marks) }
            if results == nil, let marks { results = try replayer.replayResults(of: marks.marks) }
            if let results, try poll(results) { isBusy = true }
            let now = ContinuousClock.now
            if now - lastNews >= Self.newsInterval {
                lastNews = now
                onNews(snapshot)
            }
            if now - lastSurvey >= Self.surveyInterval {
                lastSurvey = now
                try survey(replayer, reader)
            }
        }
    }

    /// Forgets everything and chooses where to begin, so that the current letters fit.
    private func begin(_ replayer: Replayer, _ reader: DeadLetterReader) throws -> [Int32: Int64] {
        let extent = try reader.extent(of: replayer.deadLetterPartitions)
        let room = Int64(Self.letterLimit)
        let total = extent.values.reduce(Int64(0)) { $0 + Int64($1.count) }
        return state.withLock { state in
            state.index = LetterIndex(limit: Self.letterLimit)
            state.outcomes = ReplayOutcomes()
            state.status = .reading(passed: 0, total: min(total, room))
            return extent.reduce(into: [:]) { starts, partition in
                let (number, range) = partition
                let share =
                    total <= room ? Int64(range.count) : Int64(Double(range.count) / Double(total) * Double(room))
                starts[number] = range.upperBound - share
                state.index.noteStart(range.lowerBound, of: number)
                if share < range.count { state.index.noteShortened(number) }
            }
        }
    }

    /// Reads new records; returns whether there may be more.
    private func poll(_ reader: DeadLetterReader, wait: Milliseconds) throws -> Bool {
        for number in 0..<1_024 {
            switch try reader.next(wait: number == 0 ? wait : .zero) {
            case .entry: state.withLock { $0.index.add(&reader.entry) }
            case .nothing: return number > 0
            case .end:
                try reader.goOn()
                state.withLock { $0.status = .current }
                onNews(snapshot)
                return true
            }
        }
        let (passed, total) = reader.progress
        state.withLock { if $0.status != .current { $0.status = .reading(passed: passed, total: total) } }
        return true
    }

    private func poll(_ results: ResultsReader) throws -> Bool {
        var found: [NotificationResult] = []
        let count = try results.poll(wait: .zero) { result, _ in found.append(result) }
        if !found.isEmpty {
            let added = found
            state.withLock { state in
                for result in added { state.outcomes.add(result) }
                state.index.noteChange()
            }
        }
        return count > 0
    }

    private func note(_ reader: StateReader?) {
        let (marks, lease, hasState) = (reader?.marks ?? MarkIndex(), reader?.lease, reader != nil)
        state.withLock { state in
            state.marks = marks
            state.hasState = hasState
            state.lease.note(lease)
            state.index.noteChange()
        }
    }

    /// Checks for new partitions, and drops the letters that the topic has deleted.
    private func survey(_ replayer: Replayer, _ reader: DeadLetterReader) throws {
        // Absent brokers are waited for.
        guard let now = try? context.replayer(isWriting: false) else { return }
        guard now.deadLetterPartitions == replayer.deadLetterPartitions, now.hasState == replayer.hasState else {
            throw ToolFailure("the dead-letter or the state topic has changed; it is read again")
        }
        guard let extent = try? reader.extent(of: replayer.deadLetterPartitions) else { return }
        state.withLock { state in
            for (partition, range) in extent { state.index.noteStart(range.lowerBound, of: partition) }
        }
    }
}

enum FollowerStatus: Sendable, Equatable {
    case reading(passed: Int64, total: Int64)
    case current
    /// The obstacle to reading; it tries again.
    case failed(String)
}

/// The lease on the dead letters as last seen, and whether its job is alive.
struct LeaseWatch: Sendable {
    private(set) var lease: Lease?
    private var changedAt = ContinuousClock.now

    /// Notes the lease as last read; `nil` when there never was one.
    mutating func note(_ read: Lease?, at now: ContinuousClock.Instant = .now) {
        guard let read, read != lease else { return }
        lease = read
        changedAt = now
    }

    /// The job that works on the dead letters now.
    func holder(at now: ContinuousClock.Instant = .now) -> Lease? { lease.flatMap { isAlive($0, now) ? $0 : nil } }

    /// The job that ended without its last record.
    func abandoned(at now: ContinuousClock.Instant = .now) -> Lease? {
        lease.flatMap { !$0.isOver && !isAlive($0, now) ? $0 : nil }
    }

    private func isAlive(_ lease: Lease, _ now: ContinuousClock.Instant) -> Bool {
        guard !lease.isOver, !lease.process.hasEnded else { return false }
        return lease.process.isCertainlyAlive || now - changedAt < Lease.patience
    }
}
