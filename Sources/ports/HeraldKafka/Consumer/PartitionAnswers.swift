public import HeraldTime

/// What brokers said of some partitions, and why they did not of the others.
///
/// librdkafka gives up a whole question when the answer about one partition is an error, or when one has no leader: so what
/// fails together is asked again about each alone.
public struct PartitionAnswers<Value: Sendable>: Sendable {
    /// What was said; a partition of which there is nothing to say is in neither.
    public internal(set) var found: [TopicPartition: Value] = [:]
    /// Why there is no answer.
    public internal(set) var failures: [TopicPartition: KafkaError] = [:]
}

extension ConsumerQueries {
    /// How long a question about one partition may take, when that about all has failed.
    private static let loneTimeout = Milliseconds.seconds(2)

    /// As ``offsets(at:timeout:)``, partition by partition where that fails.
    public func answers(
        at moments: [TopicPartition: Int64], timeout: Milliseconds
    ) -> PartitionAnswers<Int64> {
        guard !moments.isEmpty else { return PartitionAnswers() }
        do throws(KafkaError) {
            return PartitionAnswers(found: try offsets(at: moments, timeout: timeout))
        } catch {
            guard moments.count > 1 else { return PartitionAnswers(failures: moments.mapValues { _ in error }) }
            return loneAnswers(at: moments, deadline: ContinuousClock.now + timeout.duration, error)
        }
    }

    /// The same for one moment, or for ``Offset/beginning`` or ``Offset/end``.
    public func answers(
        _ moment: Int64, of partitions: [TopicPartition], timeout: Milliseconds
    ) -> PartitionAnswers<Int64> {
        answers(at: Dictionary(partitions.map { ($0, moment) }) { $1 }, timeout: timeout)
    }

    /// As ``committed(_:timeout:)``, partition by partition where an open transaction holds the answer up.
    public func committedAnswers(
        of partitions: [TopicPartition], timeout: Milliseconds
    ) throws(KafkaError) -> PartitionAnswers<CommitPosition> {
        var answers = PartitionAnswers<CommitPosition>()
        do throws(KafkaError) {
            for position in try committed(partitions, timeout: timeout) { answers.found[position.partition] = position }
            return answers
        } catch {
            guard error.kind == .unreachable, partitions.count > 1 else { throw error }
            let deadline = ContinuousClock.now + timeout.duration
            for partition in partitions {
                guard let limit = Self.limit(until: deadline) else {
                    answers.failures[partition] = error
                    continue
                }
                do throws(KafkaError) {
                    answers.found[partition] = try committed([partition], timeout: limit).first
                } catch {
                    answers.failures[partition] = error
                }
            }
            if answers.found.isEmpty { throw error }
            return answers
        }
    }

    /// - Parameter whole: What became of the question about all of them.
    private func loneAnswers(
        at moments: [TopicPartition: Int64], deadline: ContinuousClock.Instant, _ whole: KafkaError
    ) -> PartitionAnswers<Int64> {
        var answers = PartitionAnswers<Int64>()
        var silent: [Int32: KafkaError] = [:]
        for (topic, partitions) in Dictionary(grouping: moments.keys, by: \.topic).sorted(by: { $0.key < $1.key }) {
            let leaders = Result<[Int32: Int32?], KafkaError> { () throws(KafkaError) in try self.leaders(of: topic) }
            for partition in partitions.sorted(by: { $0.partition < $1.partition }) {
                do throws(KafkaError) {
                    guard let leader = try leaders.get()[partition.partition] ?? nil else {
                        throw KafkaError(code: KafkaError.Code.leaderNotAvailable)
                    }
                    guard let limit = Self.limit(until: deadline) else { throw whole }
                    if let error = silent[leader] { throw error }
                    answers.found[partition] = try ask(partition, at: moments[partition], of: leader, limit, &silent)
                } catch {
                    answers.failures[partition] = error
                }
            }
        }
        return answers
    }

    /// One that does not answer is not asked again.
    private func ask(
        _ partition: TopicPartition, at moment: Int64?, of leader: Int32, _ limit: Milliseconds,
        _ silent: inout [Int32: KafkaError]
    ) throws(KafkaError) -> Int64? {
        do throws(KafkaError) {
            return try offsets(at: [partition: moment ?? 0], timeout: limit)[partition]
        } catch {
            if error.kind == .unreachable { silent[leader] = error }
            throw error
        }
    }

    private static func limit(until deadline: ContinuousClock.Instant) -> Milliseconds? {
        let left = Milliseconds(deadline - ContinuousClock.now)
        return left > .zero ? min(left, loneTimeout) : nil
    }

    /// The leader of each of a topic's partitions.
    private func leaders(of topic: String) throws(KafkaError) -> [Int32: Int32?] {
        let partitions = try description(of: topic, timeout: Self.loneTimeout)?.partitions ?? []
        return Dictionary(partitions.map { ($0.id, $0.leader) }) { $1 }
    }
}
