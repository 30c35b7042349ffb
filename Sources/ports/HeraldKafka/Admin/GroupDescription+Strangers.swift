extension GroupDescription {
    /// A member that is not a Herald worker: its partitions are committed, but their events notify nobody.
    public struct Stranger: Sendable, Equatable {
        /// Its `client.id`, as reported by itself.
        public var clientID: String
        /// The machine that it runs on, as the broker sees it.
        public var host: String
        /// The number of partitions assigned to it.
        public var partitionCount: Int

        /// Its name, host and partition count, for the middle of a sentence.
        public var words: String {
            let partitions = partitionCount == 1 ? "1 partition" : "\(partitionCount) partitions"
            return
                "client.id \(clientID.isEmpty ? "(none)" : String(clientID.prefix(64))) on \(host), \(partitions)"
        }
    }

    /// The prefix of every Herald client's name, unless the settings override it.
    private static let clientPrefix = "herald"

    /// The members that are not Herald's, ordered by partition count, largest first.
    ///
    /// - Parameter clientID: The `client.id` that the settings give the workers.
    public func strangers(besides clientID: String?) -> [Stranger] {
        members.filter { $0.clientID != clientID && !$0.clientID.hasPrefix(Self.clientPrefix) }
            .map { Stranger(clientID: $0.clientID, host: $0.host, partitionCount: $0.partitions.count) }
            .sorted { ($1.partitionCount, $0.clientID) < ($0.partitionCount, $1.clientID) }
    }
}

extension [GroupDescription.Stranger] {
    /// The problem, for the middle of a sentence; `nil` without strangers.
    public func words(in group: String) -> String? {
        guard let first else { return nil }
        let others = count == 1 ? "" : " and \(count - 1) more"
        return "the group \(group) has \(count == 1 ? "a member that is" : "members that are") no worker of Herald's "
            + "(\(first.words)\(others)), and nobody is notified of what \(count == 1 ? "it takes" : "they take")"
    }

    /// The remedy, for the middle of a sentence.
    public static var remedy: String {
        "stop that program, or give it a group.id of its own; then stop all workers, delete the group's offsets of what it "
            + "took, and run `herald offsets restore`: events without an outcome are called, and no user twice"
    }
}
