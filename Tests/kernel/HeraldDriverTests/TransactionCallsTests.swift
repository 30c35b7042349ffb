import Dispatch
import HeraldDriver
import HeraldKafka
import HeraldKernel
import HeraldThreads
import HeraldTime
import Testing

@Suite("The transactional calls of a producer")
struct TransactionCallsTests {
    private let client = ScriptedClient()
    private let queue = DispatchQueue(label: "transactions")
    private let letters = Guarded<[TransactionReport]>([])
    private let calls: TransactionCalls
    private let positions = [CommitPosition(partition: TopicPartition(topic: "t", partition: 0), offset: 7)]

    init() {
        calls = TransactionCalls(client: client, queue: queue) { [letters] report in
            letters.withLock { $0.append(report) }
        }
    }

    /// The reports once all requests are done.
    private func reports() -> [String] {
        queue.sync {}
        return letters.withLock { $0 }.map { report in
            switch report {
            case .ready(let lateClaims): return lateClaims == 0 ? "ready" : "ready, \(lateClaims) late"
            case .waiting(let error): return "waiting: \(error.name)"
            case .notReady(let error): return "not ready: \(error.name)"
            case .committed(let sequence, _, let outcome): return "commit \(sequence): \(outcome)"
            case .aborted(_, let outcome): return "abort: \(outcome)"
            }
        }
    }

    private func member() throws -> GroupMetadata? {
        try Consumer(properties: [("bootstrap.servers", "127.0.0.1:1"), ("group.id", "g")]).groupMetadata()
    }

    @Test("A producer that no broker makes ready is requested again, until it is ready")
    func prepare() {
        client.fail([.retriable, .timeOut])
        calls.prepare()
        #expect(reports() == ["waiting: COORDINATOR_NOT_AVAILABLE", "waiting: _TIMED_OUT", "ready"])
    }

    @Test("A ready producer reports the number of its claims that no broker has answered")
    func lateClaims() {
        let client = ScriptedClient(unansweredClaims: 2)
        TransactionCalls(client: client, queue: queue) { [letters] report in
            letters.withLock { $0.append(report) }
        }.prepare()
        #expect(reports() == ["ready, 2 late"])
    }

    @Test("An error that waiting does not cure is reported once")
    func notReady() {
        client.fail([KafkaError(code: KafkaError.Code.transactionalIDAuthorizationFailed)])
        calls.prepare()
        #expect(reports() == ["not ready: TRANSACTIONAL_ID_AUTHORIZATION_FAILED"])
        #expect(client.calls == ["init"])
    }

    @Test("Nothing is claimed once no reports are wanted")
    func closed() {
        calls.close()
        calls.prepare()
        #expect(reports().isEmpty)
        #expect(client.calls.isEmpty)
    }

    @Test("A commit sends its offsets first")
    func commit() throws {
        calls.commit(1, positions, group: try member())
        #expect(reports() == ["commit 1: acknowledged"])
        #expect(client.calls == ["offsets 7", "commit"])
    }

    @Test("A commit that is requested again continues with its remaining part, whatever the arguments")
    func again() throws {
        client.fail([nil, .timeOut])
        calls.commit(1, positions, group: try member())
        calls.commit(1, [], group: nil)
        #expect(reports() == ["commit 1: failedForNow", "commit 1: acknowledged"])
        #expect(client.calls == ["offsets 7", "commit", "commit"])
    }

    @Test("Offsets that were refused are sent again with the same commit")
    func offsetsAgain() throws {
        client.fail([.retriable])
        let group = try member()
        calls.commit(1, positions, group: group)
        calls.commit(1, [], group: nil)
        #expect(reports() == ["commit 1: failedForNow", "commit 1: acknowledged"])
        #expect(client.calls == ["offsets 7", "offsets 7", "commit"])
    }

    @Test("Another number is another commit, with offsets of its own")
    func next() throws {
        let group = try member()
        calls.commit(1, positions, group: group)
        calls.commit(2, positions, group: group)
        #expect(reports() == ["commit 1: acknowledged", "commit 2: acknowledged"])
        #expect(client.calls == ["offsets 7", "commit", "offsets 7", "commit"])
    }

    @Test("Without a member no offsets are committed, and without offsets no member is needed")
    func noMember() {
        calls.commit(1, positions, group: nil)
        calls.commit(2, [], group: nil)
        #expect(reports() == ["commit 1: refused", "commit 2: acknowledged"])
        #expect(client.calls == ["commit"])
    }

    @Test("An abort reports its end")
    func abort() {
        client.fail([.timeOut])
        calls.abort()
        calls.abort()
        #expect(reports() == ["abort: failedForNow", "abort: acknowledged"])
    }

    @Test("A commit was made exactly when the group is at its offsets")
    func lookUp() {
        calls.lookUp(1, positions, queries: Committed(positions: positions))
        var other = positions
        other[0].metadata = "else"
        calls.lookUp(2, positions, queries: Committed(positions: other))
        calls.lookUp(3, [], queries: Committed(positions: []))
        calls.lookUp(4, positions, queries: Committed(positions: nil))
        #expect(
            reports() == [
                "commit 1: acknowledged", "commit 2: abortable", "commit 3: abortable", "commit 4: failedForNow",
            ])
    }

    @Test(
        "The reaction to an error follows from its code and its flags",
        arguments: [
            (KafkaError(code: KafkaError.Code.fenced, isFatal: true), .fatal(isFenced: true)),
            (KafkaError(code: KafkaError.Code.outOfOrder, isFatal: true), .fatal(isFenced: false)),
            (KafkaError(code: KafkaError.Code.illegalGeneration, isAbortable: true), .refused),
            (KafkaError(code: KafkaError.Code.unknownMemberID), .refused),
            (KafkaError(code: KafkaError.Code.fencedInstanceID), .refused),
            (KafkaError(code: KafkaError.Code.topicAuthorizationFailed, isAbortable: true), .abortable),
            (KafkaError(code: KafkaError.Code.coordinatorLoadInProgress, isRetriable: true), .failedForNow),
            (KafkaError(code: KafkaError.Code.timedOut), .failedForNow),
            (KafkaError(code: KafkaError.Code.state), .fatal(isFenced: false)),
        ] as [(KafkaError, TransactionOutcome)])
    func outcomes(error: KafkaError, outcome: TransactionOutcome) {
        #expect(error.outcome == outcome)
    }
}

extension KafkaError {
    fileprivate static let retriable = KafkaError(
        code: KafkaError.Code.coordinatorNotAvailable, isRetriable: true)
    fileprivate static let timeOut = KafkaError(code: KafkaError.Code.timedOut)
}

extension KafkaError.Code {
    /// `OUT_OF_ORDER_SEQUENCE_NUMBER`, for which Herald has no name.
    fileprivate static let outOfOrder: Int32 = 45
}

/// Notes the calls, and fails as the test demands.
private final class ScriptedClient: TransactionClient {
    private let state = Guarded((calls: [String](), errors: [KafkaError?]()))

    var calls: [String] { state.withLock { $0.calls } }
    let unansweredClaims: Int

    init(unansweredClaims: Int = 0) { self.unansweredClaims = unansweredClaims }

    /// Ends the next calls with these errors, one each.
    func fail(_ errors: [KafkaError?]) { state.withLock { $0.errors = errors } }

    private func note(_ call: String) throws(KafkaError) {
        let error = state.withLock { state in
            state.calls.append(call)
            return state.errors.isEmpty ? nil : state.errors.removeFirst()
        }
        if let error { throw error }
    }

    func initTransactions(timeout: Milliseconds) throws(KafkaError) { try note("init") }

    func sendOffsets(
        _ positions: [CommitPosition], group: GroupMetadata, timeout: Milliseconds
    ) throws(KafkaError) {
        try note("offsets \(positions.map { "\($0.offset)" }.joined(separator: " "))")
    }

    func commitTransaction(timeout: Milliseconds) throws(KafkaError) { try note("commit") }

    func abortTransaction(timeout: Milliseconds) throws(KafkaError) { try note("abort") }
}

/// The offsets that a group has committed; `nil` when no broker answers.
private struct Committed: CommittedOffsets {
    var positions: [CommitPosition]?

    func committed(_ partitions: [TopicPartition], timeout: Milliseconds) throws(KafkaError) -> [CommitPosition] {
        guard let positions else { throw KafkaError(code: KafkaError.Code.timedOut) }
        return positions
    }
}
