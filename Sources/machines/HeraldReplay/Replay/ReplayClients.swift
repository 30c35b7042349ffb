internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTools

/// What a job on dead letters reaches: the brokers, the clocks, and who asked for it.
///
/// One thread; it blocks while the state topic is read, while letters are waited for, and while it waits.
final class ReplayClients: JobIO {
    /// Who asked for a job, and what they are told.
    struct Owner {
        var isStopping: () -> Bool = { false }
        var pause: () -> ReplayPause? = { nil }
        /// Called in each turn with how the job stands.
        var onTurn: (ReplayMachine, Moment) -> Void
    }

    /// So often it asks whether it is to stop.
    private static let turnLength: Milliseconds = .milliseconds(20)
    private static let lettersPerTurn = 4_096
    /// How long the next letter is waited for: the first of a transaction, and each further one.
    private static let letterWait: (first: Milliseconds, further: Milliseconds) = (
        .milliseconds(20), .milliseconds(5)
    )

    private let owner: Owner
    private let state: StateReader
    private let transactor: Transactor
    private let letters: DeadLetterReader?
    /// Outcomes of what workers read; `nil` of what others do, of which ``returns`` is all that is known.
    private let results: ResultsReader?
    /// What waits for users' quiet hours; `nil` where nothing does.
    private let retries: RetriesReader?
    private let returns: DeadLetterReader?
    /// What reading the state topic came to.
    private var stateNews: Result<KnownState, ToolFailure>?
    private var watched: Lease?
    private var startFailure: ToolFailure?
    /// The machine has asked for letters, and has got none yet.
    private var isAsked = false

    /// Clients of a job.
    ///
    /// - Parameter state: has read the marks for the plan.
    init(_ replayer: Replayer, isPublishing: Bool, state: StateReader, owner: Owner) throws {
        let context = replayer.context
        self.owner = owner
        self.state = state
        let wakeup = try Wakeup()
        transactor = Transactor(
            properties: context.writerProperties + [("transactional.id", context.transactionalID)], wakeup: wakeup)
        guard isPublishing else {
            (letters, results, retries, returns) = (nil, nil, nil, nil)
            return
        }
        // Before anything is published, or its outcome could lie in front of the end.
        if context.watchedTopic == nil {
            results = try ResultsReader(
                properties: context.readerProperties, topic: context.topics.results,
                partitions: replayer.layout.results, mentioning: Replayer.mentionOfReplay)
            results?.reader.consumer.queue.notify(wakeup)
            let places = replayer.layout.retries
            retries =
                try places.isEmpty
                ? nil : RetriesReader(properties: context.readerProperties, partitions: places)
            returns = nil
        } else {
            (results, retries) = (nil, nil)
            returns = try context.deadLetters()
            try returns?.follow(replayer.layout.deadLetters)
        }
        letters = try context.deadLetters()
    }

    func close() {
        letters?.close()
        results?.close()
        retries?.close()
        returns?.close()
        transactor.close()
    }

    // MARK: What the machine wants

    var now: Moment { SystemClock.moment() }

    func perform(_ action: ReplayMachine.Action) {
        switch action {
        case .write(let action): transactor.perform(action)
        case .readState(let isWhole):
            watched = nil
            stateNews = Self.result { () throws -> KnownState in
                try state.catchUp(throughOpenTransactions: isWhole)
                return state.known
            }
        case .watchState(let lease): watched = lease
        case .startLetters(let ranges):
            if case .failure(let failure) = Self.result({ try letters?.start(ranges) }) { startFailure = failure }
        case .gather: isAsked = true
        }
    }

    private static func result<Value>(_ body: () throws -> Value) -> Result<Value, ToolFailure> {
        do {
            return .success(try body())
        } catch {
            return .failure(ToolFailure(saying: error))
        }
    }

    // MARK: What arrives

    func deliver(to machine: inout ReplayMachine) {
        let now = now
        owner.onTurn(machine, now)
        if owner.isStopping() { machine.stop(now: now) }
        machine.pause(owner.pause())
        transactor.serve { machine.receive($0, now: now) }
        deliverState(to: &machine, now)
        if let startFailure { machine.lettersNotStarted(startFailure) }
        startFailure = nil
        guard machine.progress.batch > 0 else { return }
        do {
            try retries?.poll { machine.receive($0) }
            try results?.poll(wait: .zero) { result, _ in machine.receive(result) }
            if let returns { machine.cameBack(try Self.countReplays(returns)) }
            try deliverLetters(to: &machine)
        } catch {
            machine.readingFailed(ToolFailure(saying: error))
        }
    }

    /// How many replays have come back as new dead letters: others report no outcome, but they keep headers.
    private static func countReplays(_ reader: DeadLetterReader) throws -> Int {
        var count = 0
        for _ in 0..<lettersPerTurn {
            guard case .entry = try reader.next(wait: .zero) else { break }
            if reader.entry.replays > 0 { count += 1 }
        }
        return count
    }

    private func deliverState(to machine: inout ReplayMachine, _ now: Moment) {
        if watched != nil {
            stateNews = Self.result { () throws -> KnownState in
                _ = try state.poll()
                return state.known
            }
        }
        switch stateNews {
        case .success(let known): machine.stateRead(known, holder: known.lease?.life ?? .ended, now: now)
        case .failure(let failure): machine.stateNotRead(failure, now: now)
        case nil: break
        }
        stateNews = nil
        if machine.phase.name != .watching { watched = nil }
    }

    /// Hands letters over, as long as they are wanted and come.
    private func deliverLetters(to machine: inout ReplayMachine) throws {
        guard isAsked, let letters else { return }
        isAsked = false
        let now = now
        for _ in 0..<Self.lettersPerTurn where machine.mayTakeLetter {
            let wait = Self.letterWait
            switch try letters.next(wait: machine.hasLetters ? wait.further : wait.first) {
            case .entry: machine.take(&letters.entry, now: now)
            case .nothing: return machine.lettersPaused()
            case .end: return machine.lettersEnded()
            }
        }
    }

    func wait(until moment: MonotonicTime?) {
        guard !isAsked, stateNews == nil, startFailure == nil else { return }
        transactor.wait(until: moment, atMost: Self.turnLength)
    }
}
