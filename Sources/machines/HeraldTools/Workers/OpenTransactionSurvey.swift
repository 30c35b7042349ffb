package import HeraldKafka
package import HeraldTime

/// Finds transactions that are open now, for a command that looks once; joins nothing.
package struct OpenTransactionSurvey {
    /// Where the first record is looked at, at most.
    private static let lookedAtLimit = 20
    private static let lookingLimit = Duration.seconds(3)

    private let properties: ClientProperties

    /// - Parameter properties: a reader's, with a `group.id`.
    package init(_ properties: ClientProperties) {
        self.properties = properties + [("enable.partition.eof", "true")]
    }

    /// Those that have been open for longer than `patience` by the time stamp of their first record; blocks.
    ///
    /// A publisher may write old time stamps, so one that has ended meanwhile does not count.
    package func transactions(
        in partitions: some Sequence<TopicPartition>, patience: Milliseconds = OpenTransaction.patience, now: WallTime,
        timeout: Milliseconds
    ) throws(KafkaError) -> [OpenTransaction] {
        let partitions = Array(partitions)
        guard !partitions.isEmpty else { return [] }
        let committed = try Consumer(properties: properties + [("isolation.level", "read_committed")])
        defer { committed.close() }
        let uncommitted = try Consumer(properties: properties + [("isolation.level", "read_uncommitted")])
        defer { uncommitted.close() }
        let stable = try committed.queries.ends(of: partitions, timeout: timeout)
        let ends = try uncommitted.queries.ends(of: partitions, timeout: timeout)
        let behind = stable.filter { $0.value < ends[$0.key] ?? 0 }.sorted { $0.key.description < $1.key.description }
            .prefix(Self.lookedAtLimit)
        guard !behind.isEmpty else { return [] }
        let ahead = try uncommitted.recordsAhead(
            of: behind.map { ($0.key, offset: $0.value) }, within: Self.lookingLimit, countsFromOrigin: false)
        let still = try committed.queries.ends(of: behind.map(\.key), timeout: timeout)
        return behind.compactMap { partition, offset in
            guard case .published(let moment?) = ahead[partition]?.first, still[partition] == offset,
                let end = ends[partition]
            else { return nil }
            let since = min(moment, now)
            guard now.time(since: since) >= patience else { return nil }
            return OpenTransaction(
                partition: partition, offset: offset, end: end, since: since,
                servers: properties["bootstrap.servers"] ?? "")
        }
    }
}
