package import HeraldCore
package import HeraldDriver
internal import HeraldEvents
package import HeraldKafka
internal import HeraldTime
internal import HeraldTools

/// Where a group stands in a partition, and what there is of it.
package struct PartitionOffsets: Sendable, Equatable {
    package var partition: TopicPartition
    /// `nil`: the group has no offset.
    package var committed: Int64?
    /// What is done beyond that; `nil` when the metadata is not Herald's, or damaged.
    package var map: CompletionMap?
    /// The first offset that is left.
    package var begin: Int64
    /// The offset behind the last record.
    package var end: Int64
    /// The last stable offset: readers of committed records get no further.
    package var stable: Int64

    /// Whether there are records, and no offset.
    package var isMissing: Bool { committed == nil && begin < stable }
    /// How many offsets were deleted before they were read.
    package var lost: Int64 = 0
    /// How many offsets beyond the committed one are done.
    package var doneBeyond: Int? { map?.done.reduce(0) { $0 + $1.count } }
}

/// Asks where the group stands; joins nothing.
package final class OffsetSurvey {
    static let timeout = Milliseconds.seconds(10)

    let context: OffsetContext
    private let admin: Admin
    private let surveyor: Consumer
    let reader: TopicReader

    package init(_ context: OffsetContext, admin: Admin) throws {
        self.context = context
        self.admin = admin
        do throws(KafkaError) {
            surveyor = try Consumer(properties: context.surveyProperties)
            reader = try TopicReader(properties: context.readerProperties)
        } catch {
            throw ToolFailure(error)
        }
    }

    package func close() {
        surveyor.close()
        reader.close()
    }

    /// The group's members.
    package func members() throws -> Int {
        do throws(KafkaError) {
            return try admin.describeGroup(context.group, timeout: Self.timeout).members.count
        } catch {
            throw ToolFailure(
                "it is not known whether workers of the group \(context.group) run", error,
                allow: KafkaPermission(.describe, on: .group(context.group)))
        }
    }

    /// The partitions of the request topics and of every topic that is named like a retry topic, in order.
    package func partitions() throws -> [PartitionOffsets] {
        do throws(KafkaError) {
            let all = try consumed()
            let survey = GroupSurvey(surveyor.queries, admin: admin) { Self.timeout }
            return try survey.positions(of: all).partitions.map { position in
                let committed = position.committed.map {
                    CommitPosition(partition: position.partition, offset: $0, metadata: position.note)
                }
                return PartitionOffsets(
                    partition: position.partition, committed: position.committed,
                    map: committed.flatMap(survey.completions), begin: position.begin, end: position.end,
                    stable: position.stable, lost: position.lost)
            }
        } catch {
            throw ToolFailure(
                "the group's offsets cannot be read", error, allow: KafkaPermission(.read, on: .group(context.group)))
        }
    }

    /// Which other groups have offsets of the request topics: one of them may be this one, under the name that it had.
    package func otherGroups(of partitions: [PartitionOffsets]) -> OtherGroups {
        let requests = Set(context.topics.requests)
        return OtherGroups(
            besides: context.group, on: partitions.map(\.partition).filter { requests.contains($0.topic) },
            properties: context.surveyProperties, patience: Self.timeout.duration,
            author: CompletionMap.author(of:committed:in:_:_:))
    }

    private func consumed() throws(KafkaError) -> [TopicPartition] {
        let found = try admin.metadata(timeout: Self.timeout).topics
        func partitions(_ name: String) -> [TopicPartition] {
            let topic = found.first { $0.name == name }
            return (topic?.partitions.map(\.id) ?? []).sorted().map { TopicPartition(topic: name, partition: $0) }
        }
        let missing = context.topics.requests.first { partitions($0).isEmpty }
        if let missing { throw KafkaError(code: KafkaError.Code.unknownTopicOrPartition, message: missing) }
        let retries = found.map(\.name).filter { context.topics.delay(ofTopic: $0) != nil }
        return (context.topics.requests + retries.sorted()).flatMap(partitions)
    }

    var cluster: String { surveyor.queries.clusterID ?? "" }
    /// The group without a member: what commits for it is in no generation.
    var groupMetadata: GroupMetadata? { surveyor.groupMetadata() }
}
