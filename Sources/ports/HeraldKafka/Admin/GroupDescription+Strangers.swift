extension GroupDescription {
    /// A member that is no worker of Herald's: what it takes is committed for all, and nobody is notified of it.
    public struct Stranger: Sendable, Equatable {
        /// Its `client.id`, as it says.
        public var clientID: String
        /// The machine that it runs on, as the broker sees it.
        public var host: String
        /// How many partitions are its.
        public var partitionCount: Int

        /// Who it is, in the middle of a sentence.
        public var words: String {
            let partitions = partitionCount == 1 ? "1 partition" : "\(partitionCount) partitions"
            return
                "client.id \(clientID.isEmpty ? "of no name" : String(clientID.prefix(64))) on \(host), \(partitions)"
        }
    }

    /// How the names of all Herald's clients begin, unless the settings give them another one.
    private static let clientPrefix = "herald"

    /// The members that are none of Herald's, those of the most partitions first.
    ///
    /// - Parameter clientID: the `client.id` that the settings give the workers.
    public func strangers(besides clientID: String?) -> [Stranger] {
        members.filter { $0.clientID != clientID && !$0.clientID.hasPrefix(Self.clientPrefix) }
            .map { Stranger(clientID: $0.clientID, host: $0.host, partitionCount: $0.partitions.count) }
            .sorted { ($1.partitionCount, $0.clientID) < ($0.partitionCount, $1.clientID) }
    }
}

extension [GroupDescription.Stranger] {
    /// What is wrong about them, in the middle of a sentence; `nil` without any.
    public func words(in group: String) -> String? {
        guard let first else { return nil }
        let others = count == 1 ? "" : " and \(count - 1) more"
        return "the group \(group) has \(count == 1 ? "a member that is" : "members that are") no worker of Herald's "
            + "(\(first.words)\(others)), and nobody is notified of what \(count == 1 ? "it takes" : "they take")"
    }

    /// What to do, in the middle of a sentence.
    public static var remedy: String {
        "stop that program, or give it a group.id of its own; then stop all workers, delete the group's offsets of what it "
            + "took, and run `herald offsets restore`: what has no outcome is called, and nobody twice"
    }
}
