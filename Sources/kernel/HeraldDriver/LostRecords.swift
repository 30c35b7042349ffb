package import HeraldEvents
package import HeraldKafka
package import HeraldTime

/// Records that were deleted before they were read: the one wording about them.
package struct LostRecords: Sendable, Equatable {
    /// Those of a partition.
    package struct Place: Sendable, Equatable {
        package var partition: TopicPartition
        /// How many offsets without a known outcome are gone: records, and the marks of transactions between them.
        package var count: Int64
        /// Since when that is known.
        package var since: WallTime?

        package init(partition: TopicPartition, count: Int64, since: WallTime? = nil) {
            self.partition = partition
            self.count = count
            self.since = since
        }
    }

    private let places: [Place]
    /// Whether a worker may have read some of them before.
    package var isBound = false
    /// How many there are where that is known better.
    private var exactCount: Int64?

    package init(_ places: [Place]) { self.places = places }

    package var partitions: [TopicPartition] { places.map(\.partition) }

    /// Those of the partitions that have lost some.
    package init(of counts: [(TopicPartition, Int64)]) {
        self.init(counts.filter { $0.1 > 0 }.map { Place(partition: $0.0, count: $0.1) })
    }

    package var count: Int64 { exactCount ?? count { _ in true } }

    /// How many of them lay in these partitions.
    package func count(in isMeant: (TopicPartition) -> Bool) -> Int64 {
        places.reduce(0) { $0 + (isMeant($1.partition) ? $1.count : 0) }
    }

    /// The same as workers count it, of the partitions that they name.
    package func told(by findings: [Finding]) -> Self {
        let names = Set(findings.flatMap(\.place))
        let count = findings.reduce(0) { $0 + Int64($1.numbers["records"] ?? 0) }
        var told = Self(places.filter { names.contains($0.partition.description) })
        guard !told.places.isEmpty, count > 0 else { return self }
        told.exactCount = count
        return told
    }

    /// The loss, for the middle of a sentence.
    package var words: String {
        "\(isBound ? "up to " : "")\(count) \(count == 1 ? "record" : "records") of \(places.map(\.partition).names) "
            + "\(count == 1 ? "was" : "were") deleted before \(count == 1 ? "it was" : "they were") read"
    }

    /// The remedy, for the middle of a sentence.
    package var remedy: String { FindingKey.recordsLost.entry.step }

    /// `nil` without any.
    package var finding: Finding? {
        places.isEmpty
            ? nil
            : Finding(
                .recordsLost, words, place: places.map(\.partition.description),
                since: places.compactMap(\.since).min(), numbers: ["records": Int(count), "partitions": places.count])
    }
}
