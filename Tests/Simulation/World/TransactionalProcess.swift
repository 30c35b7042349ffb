import HeraldCore
import HeraldDriver
import HeraldKafka
import HeraldKernel
import HeraldWorker

/// A transactional producer from its process's view: the state of the client library, and the work of its helper
/// thread.
struct TransactionClient {
    /// A call that blocks.
    enum Operation: Equatable {
        case initialise
        case commit(UInt64)
        case abort
    }

    /// The broker's number of this producer; `nil` before it is ready.
    var epoch: Int?
    /// Counts the transactions.
    var number = 0
    var isOpen = false
    /// A request of this transaction is on its way to the broker, or there.
    var hasSent = false
    /// A commit was begun.
    var hasBegunCommit = false
    /// Records on their way.
    var outstanding = 0
    /// The places of records without an answer.
    var unanswered: [ProductionID: Place] = [:]
    /// The places where an abort has given up a record that the broker has: it takes the next one there for the same
    /// and drops it.
    var outOfStep: Set<Place> = []
    /// A record failed: only an abort helps.
    var mustAbort = false
    var offsetsAreSent = false
    /// Its epoch is over, or it is broken for another reason.
    var isFenced = false
    var isBroken = false

    /// Its requests that change transactions, of which some may have no answer.
    var control = ControlRequests()
    /// Its claims of the name, of which some may have no answer.
    var claims = ControlRequests()
    /// Answers to earlier calls belong to the former client.
    var firstCall = 0

    /// The call under way, and its number.
    var operation: Operation?
    var call = 0
    /// It is about to return.
    var isConcluded = false
    /// The call that timed out and has to be repeated.
    var unfinished: Operation?
    /// The positions of the commit under way, and the generation that it belongs to.
    var positions: [Position] = []
    var generation = 0

    var fatal: TransactionOutcome? { isFenced || isBroken ? .fatal(isFenced: isFenced) : nil }
}

/// A process with a transactional producer: a worker, or a job.
protocol TransactionalProcess: AnyObject {
    var simulation: Simulation { get }
    /// This life of it.
    var process: Process { get }
    var client: TransactionClient { get set }
    /// Records on their way to the broker.
    var produced: Set<ProductionID> { get set }
    /// It gets no inputs before this moment.
    var frozenUntil: Int64? { get }

    /// The partition that it has in mind.
    func place(_ partition: TopicPartition) -> Place
    func hear(_ news: News)
    func thaw(after duration: Int64)
    /// Notes that a transaction is open and empty.
    func transactionBegins()
    /// Takes the outcome of a transactional call.
    func take(_ report: TransactionReport)
    /// Takes the outcome of a record.
    func acknowledge(_ id: ProductionID, _ error: KafkaError?)
    /// Notes that another process has the producer's name, and the client library knows it.
    func noteFence()
    /// Notes that another process has the producer's name, and no call has said so.
    func noteHiddenFence()
    /// Whether brokers refuse a record because of its content.
    func isInvalid(_ record: LogRecord) -> Bool
}

extension TransactionalProcess {
    func misuse(_ text: String) {
        simulation.checkers.fail("\(process): \(text)")
    }

    func log(_ text: @autoclosure () -> String) {
        simulation.log("\(process): \(text())")
    }

    /// The streams of chance for its actions.
    var chance: Streams {
        get { simulation[process] }
        _modify { yield &simulation[process] }
    }

    /// A position in the cluster's terms.
    func position(_ position: CommitPosition) -> Position {
        Position(place: place(position.partition), offset: position.offset, metadata: position.metadata)
    }

    func place(_ partition: TopicPartition) -> Place { simulation.place(partition) }

    func name(_ place: Place) -> TopicPartition {
        TopicPartition(topic: simulation.cluster.topics[place.topic], partition: Int32(place.partition))
    }

    func isInvalid(_ record: LogRecord) -> Bool { false }
    func noteHiddenFence() {}

    private func begin(_ operation: TransactionClient.Operation) {
        if let other = client.operation { misuse("\(operation) while \(other) is under way") }
        if let other = client.unfinished, other != operation { misuse("\(operation), but \(other) has to be repeated") }
        client.operation = operation
        client.isConcluded = false
        client.call += 1
        log("\(operation)")
    }

    /// Returns the call under way to the engine.
    private func conclude(_ outcome: TransactionOutcome) {
        guard let operation = client.operation else { return }
        client.isConcluded = true
        client.call += 1
        simulation.schedule(
            .news(process, .concluded(operation, outcome)), after: chance[.producer].between(0, 5))
    }

    private func limitTime() {
        simulation.schedule(
            .news(process, .timedOut(call: client.call)), after: chance[.callTimeout].between(2_000, 10_000))
    }

    private func send(_ request: Request) {
        simulation.schedule(.request(process, request), after: chance[.travel].between(0, 20))
    }

    // MARK: What the engine wants

    func prepareProducer() {
        guard simulation.scenario.isAtomic else {
            misuse("at-least-once knows no transactions")
            return
        }
        initialise()
    }

    func renewProducer() {
        // Late answers to the former one are not taken for answers to this one.
        let (call, number) = (client.call, client.number)
        client = TransactionClient()
        client.call = call + 1
        client.firstCall = client.call
        client.number = number
        initialise()
    }

    func resolveCommit(_ sequence: UInt64, _ positions: [CommitPosition]) {
        log("looks commit \(sequence) up")
        send(.lookUp(sequence: sequence, positions.map(position)))
    }

    func producerError() -> KafkaError? {
        guard let fatal = client.fatal else { return nil }
        return KafkaError(fatal)
    }

    private func initialise() {
        begin(.initialise)
        client.claims.noteSent()
        send(.initialise(call: client.call))
    }

    func beginTransaction() throws(KafkaError) {
        if client.epoch == nil { misuse("a transaction begins before the producer is ready") }
        if client.isOpen { misuse("a transaction begins in another one") }
        if let operation = client.operation ?? client.unfinished { misuse("a transaction begins during \(operation)") }
        client.isOpen = true
        client.number += 1
        client.hasSent = false
        client.hasBegunCommit = false
        client.outstanding = 0
        client.unanswered = [:]
        client.mustAbort = false
        client.offsetsAreSent = false
        transactionBegins()
        log("begins transaction number \(client.number)")
        if let error = producerError() { throw error }
        if !client.outOfStep.isEmpty || client.control.mayArriveLate { throw .inconsistent }
    }

    func commitTransaction(_ sequence: UInt64, _ positions: [CommitPosition], by member: Int?) {
        if !client.isOpen { misuse("there is no transaction to commit") }
        let isAnew = client.unfinished == nil
        client.hasBegunCommit = true
        begin(.commit(sequence))
        limitTime()
        if isAnew {
            client.positions = positions.map(position)
            client.generation = member ?? 0
            let abortableErrors = simulation.scenario.abortableErrors
            if chance[.abortableError].happens(abortableErrors) { client.mustAbort = true }
        }
        let fatalErrors = simulation.scenario.fatalErrors * (isAnew ? 1 : 20)
        if chance[.fatalError].happens(fatalErrors) { client.isBroken = true }
        goOnCommitting()
    }

    /// Waits for the records, sends the offsets, ends the transaction.
    private func goOnCommitting() {
        guard case .commit = client.operation, !client.isConcluded, let epoch = client.epoch else { return }
        if let fatal = client.fatal {
            conclude(fatal)
        } else if client.mustAbort {
            conclude(.abortable)
        } else if client.outstanding == 0 {
            if !client.offsetsAreSent, !client.positions.isEmpty {
                client.hasSent = true
                client.control.noteSent()
                send(
                    .sendOffsets(
                        call: client.call, client.positions, generation: client.generation, epoch: epoch,
                        transaction: client.number))
            } else if client.hasSent {
                client.control.noteSent()
                send(.end(call: client.call, commits: true, epoch: epoch, transaction: client.number))
            } else {
                client.isOpen = false
                conclude(.acknowledged)
            }
        }
    }

    func abortTransaction() {
        if !client.isOpen { misuse("there is no transaction to abort") }
        begin(.abort)
        limitTime()
        // Records on their way are taken back, and reported as failed before the abort returns. If their answers are
        // lost, they have arrived all the same.
        client.outstanding = 0
        if chance[.outOfStep].happens(simulation.scenario.lostAcknowledgements * 20) {
            client.outOfStep.formUnion(client.unanswered.values)
        }
        for id in produced.sorted(by: { $0.rawValue < $1.rawValue }) {
            simulation.schedule(.news(process, .written(id, transaction: client.number, .purged)), after: 0)
        }
        if chance[.fatalError].happens(simulation.scenario.fatalErrors) { client.isBroken = true }
        if let fatal = client.fatal {
            conclude(fatal)
        } else if client.hasSent, let epoch = client.epoch,
            client.hasBegunCommit || !simulation.forgetsEnd(process, epoch: epoch, transaction: client.number)
        {
            client.control.noteSent()
            send(.end(call: client.call, commits: false, epoch: epoch, transaction: client.number))
        } else {
            client.isOpen = false
            conclude(.acknowledged)
        }
    }

    /// Writes a record in the transaction; the producer may refuse it.
    func write(_ id: ProductionID, _ place: Place, _ record: LogRecord, _ effect: Effect?) {
        if !client.isOpen { misuse("a record outside of a transaction") }
        if let operation = client.operation ?? client.unfinished { misuse("a record during \(operation)") }
        guard let epoch = client.epoch else { return }
        client.hasSent = true
        client.outstanding += 1
        client.unanswered[id] = place
        if client.outOfStep.remove(place) != nil {
            log("the broker takes a record for one that it has")
            schedule(.written(id, transaction: client.number, .done))
            return
        }
        if chance[.refusedRecord].happens(simulation.scenario.refusedRecords) || isInvalid(record) {
            refuseBatch(at: place)
        } else {
            send(
                .write(
                    id, place, record, effect, epoch: epoch, transaction: client.number, sentAt: simulation.now))
        }
    }

    /// The broker refuses all records on their way to a partition because of one, and reports each as refused.
    private func refuseBatch(at place: Place) {
        let wait = chance[.producer].between(0, 30)
        for id in produced.sorted(by: { $0.rawValue < $1.rawValue }) where client.unanswered[id] == place {
            simulation.schedule(.news(process, .written(id, transaction: client.number, .refused)), after: wait)
        }
    }

    private func schedule(_ news: News) {
        simulation.schedule(.news(process, news), after: chance[.producer].between(0, 30))
    }

    // MARK: Inputs

    func hearProducer(_ news: News) {
        switch news {
        case .initialised(let call, let epoch):
            guard call == client.call else { return }
            client.operation = nil
            client.epoch = epoch
            client.claims.noteAnswer()
            take(.ready(lateClaims: client.claims.unansweredCount))
        case .written(let id, let number, let reply): written(id, number, reply)
        case .replied(let call, let reply):
            if call >= client.firstCall { client.control.noteAnswer() }
            if call == client.call { replied(reply) }
        case .lookedUp(let sequence, let outcome):
            log("commit \(sequence) was \(outcome)")
            take(.committed(sequence: sequence, KafkaError(outcome), outcome))
        case .timedOut(let call): if call == client.call { conclude(.failedForNow) }
        case .concluded(let operation, let outcome): concluded(operation, outcome)
        default: break
        }
    }

    private func written(_ id: ProductionID, _ number: Int, _ reply: Reply) {
        guard number == client.number, client.isOpen else { return }
        // From an abort on, even one that has to be repeated, the records that it takes back are not reported.
        if (client.operation ?? client.unfinished) == .abort {
            if case .purged = reply { acknowledge(id, KafkaError.purged) }
            return
        }
        // A record that was refused with its batch may have an answer of its own.
        guard client.unanswered.removeValue(forKey: id) != nil else { return }
        client.outstanding -= 1
        switch reply {
        case .done, .purged: break
        case .fenced: client.isFenced = true
        case .refused, .timedOut: client.mustAbort = true
        }
        goOnCommitting()
        switch reply {
        // A transaction's commit stands for all of its records.
        case .done, .purged: produced.remove(id)
        case .fenced: noteFence()
        case .refused: acknowledge(id, process.isJob ? .notTaken : .invalidRecord)
        case .timedOut: acknowledge(id, .notTaken)
        }
    }

    private func replied(_ reply: Reply) {
        switch (client.operation, reply) {
        // A broker that is just fencing a producer answers its commit with an internal error.
        case (.commit, .fenced) where process.isJob && chance[.hiddenFence].below(3) == 0:
            log("an internal error hides the fence")
            noteHiddenFence()
            client.mustAbort = true
            conclude(.abortable)
        case (_, .fenced):
            client.isFenced = true
            conclude(.fatal(isFenced: true))
        case (.commit, .refused):
            client.mustAbort = true
            conclude(.refused)
        case (.commit, .done) where !client.offsetsAreSent && !client.positions.isEmpty:
            client.offsetsAreSent = true
            goOnCommitting()
        case (.commit, .done), (.abort, .done):
            client.isOpen = false
            conclude(.acknowledged)
        case _:
            misuse("\(reply) answers \(String(describing: client.operation))")
        }
    }

    private func concluded(_ operation: TransactionClient.Operation, _ outcome: TransactionOutcome) {
        guard client.operation == operation else { return }
        client.operation = nil
        client.unfinished = outcome == .failedForNow ? operation : nil
        log("\(operation): \(outcome)")
        switch operation {
        case .commit(let sequence):
            take(.committed(sequence: sequence, KafkaError(outcome), outcome))
        case .abort: take(.aborted(KafkaError(outcome), outcome))
        case .initialise: break
        }
    }
}

extension Simulation {
    /// The partition that has this name now.
    func place(_ partition: TopicPartition) -> Place {
        Place(topic: cluster.number(of: partition.topic) ?? 0, partition: Int(partition.partition))
    }
}

extension KafkaError {
    fileprivate static let inconsistent = KafkaError(code: Code.inconsistent, isFatal: true)
    fileprivate static let purged = KafkaError(code: Code.purgedInFlight)
    /// No broker has taken the record.
    static let notTaken = KafkaError(code: Code.messageTimedOut)
    /// A broker refuses it, or one of its batch, because of its content.
    static let invalidRecord = KafkaError(code: Code.invalidRecord)
    static let timedOut = KafkaError(code: Code.timedOut)

    /// The client library's error for a transactional call with this outcome; `nil` when it succeeded.
    fileprivate init?(_ outcome: TransactionOutcome) {
        switch outcome {
        case .acknowledged: return nil
        case .fatal(isFenced: true): self.init(code: Code.fenced, isFatal: true)
        case .fatal(isFenced: false): self.init(code: Code.fatal, isFatal: true)
        case .failedForNow: self = .timedOut
        case .refused: self.init(code: Code.illegalGeneration, isAbortable: true)
        case .abortable: self.init(code: Code.messageTimedOut, isAbortable: true)
        }
    }
}
