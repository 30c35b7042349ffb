/// A permission in the vocabulary of `kafka-acls`: the one table of advice for errors of the kind
/// ``KafkaError/Kind/forbidden``.
public struct KafkaPermission: Sendable, Hashable, CustomStringConvertible {
    /// The object of a permission.
    public enum Resource: Sendable, Hashable {
        /// A topic.
        case topic(String)
        /// A consumer group.
        case group(String)
        /// A producer's `transactional.id`.
        case transactionalID(String)
        /// All `transactional.id`s with this prefix.
        case transactionalIDs(prefix: String)
    }

    /// The operation to allow, the strongest first: `Read` and `Write` imply `Describe`.
    public enum Operation: String, Sendable, Hashable {
        /// Reads records or offsets.
        case read = "Read"
        /// Writes records, or uses a `transactional.id`.
        case write = "Write"
        /// Sees that the resource exists.
        case describe = "Describe"
        /// Creates a topic.
        case create = "Create"
        /// Changes a topic.
        case alter = "Alter"
        /// Sees a topic's configuration.
        case describeConfigs = "DescribeConfigs"
        /// Changes a topic's configuration.
        case alterConfigs = "AlterConfigs"
    }

    /// The operations to allow.
    public var operations: [Operation]
    /// The resources to allow them on.
    public var resources: [Resource]

    /// The permission for these operations on these resources.
    public init(_ operations: Operation..., on resources: Resource...) {
        self.init(operations, on: resources)
    }

    /// The permission for these operations on these resources.
    public init(_ operations: [Operation], on resources: [Resource]) {
        self.operations = operations
        self.resources = resources
    }

    /// The remedy as the end of a sentence: `allow Read on the topic notifications with kafka-acls`.
    public var description: String {
        let isPrefixed = resources.contains { if case .transactionalIDs = $0 { true } else { false } }
        return "allow \(Self.list(operations.map(\.rawValue))) on \(Self.list(resources.map(\.description))) "
            + "with kafka-acls" + (isPrefixed ? " --resource-pattern-type prefixed" : "")
    }

    /// The command that grants it to the user `NAME`.
    public var command: String {
        let words = operations.flatMap { ["--operation", $0.rawValue] } + resources.flatMap(\.arguments)
        return "kafka-acls --add --allow-principal User:NAME " + words.joined(separator: " ")
    }

    private static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }
}

extension KafkaPermission.Resource: CustomStringConvertible {
    /// The resource as named in sentences.
    public var description: String {
        switch self {
        case .topic(let name): "the topic \(name)"
        case .group(let name): "the group \(name)"
        case .transactionalID(let name): "the transactional id \(name)"
        case .transactionalIDs(let prefix): "transactional ids that begin with \(prefix)"
        }
    }

    fileprivate var arguments: [String] {
        switch self {
        case .topic(let name): ["--topic", name]
        case .group(let name): ["--group", name]
        case .transactionalID(let name): ["--transactional-id", name]
        case .transactionalIDs(let prefix): ["--transactional-id", prefix, "--resource-pattern-type", "prefixed"]
        }
    }
}

extension KafkaError {
    /// The remedy as the end of a sentence, with its semicolon; empty unless the error is `forbidden`.
    public func advice(_ permission: KafkaPermission) -> String { kind == .forbidden ? "; \(permission)" : "" }
}
