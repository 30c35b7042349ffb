package import HeraldKafka
internal import HeraldText
package import HeraldTime

/// The other groups with offsets on Herald's request topics: one of them may be this one, under its former name.
package struct OtherGroups: Sendable, Equatable {
    /// One of Herald's, as the metadata of its commits shows.
    package struct Group: Sendable, Equatable {
        package var name: String
        /// The newest time stamp of its taken events; `nil` when unknown.
        package var newest: WallTime?
        /// Whether it has members, too.
        package var hasMembers: Bool
    }

    /// The author of a commit, by its metadata.
    package typealias Author = (
        _ metadata: String, _ offset: Int64, _ cluster: String, _ topic: String, _ partition: Int32
    ) -> (isHeralds: Bool, newest: WallTime?)

    /// The most groups of a cluster that are examined.
    static let limit = 200
    private static let questionTimeout: Milliseconds = .seconds(3)

    /// Herald's groups, the one with the newest events first.
    package private(set) var heralds: [Group] = []
    /// The names of other programs' groups.
    package private(set) var foreign: [String] = []
    /// The number of groups that were not examined.
    package private(set) var unasked = 0
    /// The reason why groups could not be listed, or one of them not examined.
    package private(set) var failure: KafkaError?

    /// Looks at the groups of a cluster; blocks.
    ///
    /// - Parameters:
    ///   - group: Herald's own, which is left out.
    ///   - partitions: the request topics' partitions.
    ///   - properties: librdkafka's, with the `group.id` of a group that is not joined.
    ///   - patience: the longest time for asking groups.
    package init(
        besides group: String, on partitions: [TopicPartition], properties: ClientProperties, patience: Duration,
        author: Author
    ) {
        let end = ContinuousClock.now + patience
        do throws(KafkaError) {
            let admin = try Admin(properties: properties)
            let cluster = admin.clusterID(timeout: Self.questionTimeout) ?? ""
            let others = try admin.groups(timeout: Self.questionTimeout).filter { $0.name != group }
                .sorted { ($1.name.likeness(to: group), $0.name) < ($0.name.likeness(to: group), $1.name) }
            for (index, other) in others.enumerated() {
                guard index < Self.limit, ContinuousClock.now < end else {
                    unasked = others.count - index
                    break
                }
                do throws(KafkaError) {
                    let commits = try admin.committed(by: other.name, partitions, timeout: Self.questionTimeout)
                    let authors = commits.map {
                        author($0.metadata, $0.offset, cluster, $0.partition.topic, $0.partition.partition)
                    }
                    note(authors, of: other)
                } catch {
                    failure = error
                }
            }
        } catch {
            failure = error
        }
        heralds.sort { ($1.newest?.milliseconds ?? 0, $0.name) < ($0.newest?.milliseconds ?? 0, $1.name) }
    }

    /// Groups that are known.
    package init(heralds: [Group], foreign: [String] = [], unasked: Int = 0, failure: KafkaError? = nil) {
        (self.heralds, self.foreign, self.unasked, self.failure) = (heralds, foreign, unasked, failure)
    }

    private mutating func note(
        _ authors: [(isHeralds: Bool, newest: WallTime?)], of group: (name: String, hasMembers: Bool)
    ) {
        guard !authors.isEmpty else { return }
        guard authors.contains(where: \.isHeralds) else { return foreign.append(group.name) }
        heralds.append(
            Group(name: group.name, newest: authors.compactMap(\.newest).max(), hasMembers: group.hasMembers))
    }

    /// The Herald groups with offsets there, as a sentence that asks for the decision; `nil` without any.
    package var question: String? {
        guard let first = heralds.first else { return nil }
        let newest = first.newest.map { ", for events up to \(RFC3339.text($0))" } ?? ""
        let others = heralds.count > 1 ? " (and \(Self.names(heralds.dropFirst().map(\.name))))" : ""
        return "The group \(SafeText.escaped(first.name))\(others) has Herald's offsets on these topics\(newest)"
            + "\(first.hasMembers ? ", and members": ""): was kafka.group renamed?"
    }

    /// The unknown facts, and the other programs' groups, a sentence each.
    package var remarks: [String] {
        var remarks: [String] = []
        if !foreign.isEmpty {
            remarks.append("Other programs' groups have offsets there, too: \(Self.names(foreign)).")
        }
        if unasked > 0 { remarks.append("\(unasked) more groups of this cluster were not asked.") }
        if let failure {
            remarks.append(
                "Whether other groups have offsets there is not known of all (\(failure.words)): that takes Describe on them."
            )
        } else if heralds.isEmpty, foreign.isEmpty {
            remarks.append("No other group that this user may see has offsets there.")
        }
        return remarks
    }

    private static func names(_ names: [String]) -> String { names.map(SafeText.escaped).firstNames }
}

extension String {
    /// The number of characters of the common beginning.
    fileprivate func likeness(to other: String) -> Int { zip(self, other).prefix { $0 == $1 }.count }
}
