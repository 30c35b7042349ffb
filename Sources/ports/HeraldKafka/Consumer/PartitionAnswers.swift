public import HeraldTime

/// The brokers' answers about some partitions, and the reasons for missing answers.
///
/// librdkafka fails a whole query when one partition has an error or no leader, so partitions that fail together are
/// queried again one by one.
public struct PartitionAnswers<Value: Sendable>: Sendable {
    /// The answers; a partition without anything to report is in neither dictionary.
    public internal(set) var found: [TopicPartition: Value] = [:]
    /// The reasons for missing answers.
    public internal(set) var failures: [TopicPartition: KafkaError] = [:]
}

extension ConsumerQueries {
    /// The time limit of a query about one partition, after the query about all has failed.
    private static let loneTimeout = Milliseconds.seconds(2)

    /// Like ``offsets(at:timeout:)``, partition by partition where that fails.
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

    /// Like ``committed(_:timeout:)``, partition by partition where an open transaction delays the answer.
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

    /// - Parameter whole: The error of the query about all of them.
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

    /// Queries one leader; a leader that does not answer is not asked again.
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

    private func leaders(of topic: String) throws(KafkaError) -> [Int32: Int32?] {
        let partitions = try description(of: topic, timeout: Self.loneTimeout)?.partitions ?? []
        return Dictionary(partitions.map { ($0.id, $0.leader) }) { $1 }
    }
}
