import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldTelemetry
import HeraldTime

@testable import HeraldWorker

/// A lane over a ``ScriptedIO``.
struct LaneFixture {
    static let topic = "notifications"
    let io = ScriptedIO()
    let lane: Lane<ScriptedIO>

    init(
        isAtomic: Bool = false, tracing: Tracing? = nil, intervals: LaneIntervals = .never,
        _ change: (inout EngineConfiguration) -> Void = { _ in }
    ) {
        var configuration = EngineConfiguration(decoder: RecordDecoder())
        configuration.topics.requests = [Self.topic]
        configuration.retryDelays = ["5s"].compactMap { DelayName($0) }
        configuration.retry = RetryPolicy(immediate: 0, delays: [.seconds(5)])
        configuration.isAtomic = isAtomic
        change(&configuration)
        lane = Lane(
            number: 0, configuration: configuration, requestWeights: [1], io: io, logger: .silent, intervals: intervals,
            tracer: tracing.map {
                LaneTracer(
                    $0, slots: configuration.maxBuffered, pushServices: configuration.decoder.pushServices.names,
                    seed: 1)
            })
    }

    /// Takes one turn after `span`, reading all inputs; returns the lane's actions.
    @discardableResult
    func turn(after span: Milliseconds = .zero) -> [String] {
        io.now.monotonic = io.now.monotonic.advanced(by: span)
        io.now.wall = io.now.wall.advanced(by: span)
        lane.turn([.consumer, .producer, .messages], after: span)
        return io.takeDoings()
    }

    static func partition(_ number: Int32 = 0, of topic: String = topic) -> TopicPartition {
        TopicPartition(topic: topic, partition: number)
    }

    /// Gives the lane partition 0 of the request topic, from offset 0 on.
    func assign() {
        io.rebalances.append(.assign([Self.partition()]))
        turn()
        answerAssignment(1)
        turn()
    }

    func answerAssignment(_ number: Int) {
        io.messages.append(
            .starts(
                assignment: number,
                .success([StartPosition(committed: CommitPosition(partition: Self.partition(), offset: 0))])
            ))
    }

    /// Answers the latest call.
    func answer(
        _ status: Int, retryAfter: Milliseconds? = nil, detail: String? = nil, failure: CallFailure? = nil
    ) {
        guard let token = io.calls.last else { return }
        let duration = Milliseconds.milliseconds(3)
        let result =
            failure.map { CallResult(failure: $0, detail: detail, duration: duration) }
            ?? CallResult(status: status, retryAfter: retryAfter, detail: detail, duration: duration)
        io.endedCalls.append(
            (token, EndedCall(result, sentAt: io.now.monotonic, durationNanoseconds: duration.nanoseconds)))
    }

    /// Acknowledges the latest produced record, or fails it.
    func acknowledge(_ error: Int32? = nil) {
        guard let id = io.productions.last else { return }
        io.acknowledged.append((id, error.map { KafkaError(code: $0) }))
    }
}
