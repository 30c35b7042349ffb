/// The resource of an access rule.
public struct AccessResource: Sendable {
    fileprivate let kind: Int8
    fileprivate let name: String
    fileprivate let isPrefix: Bool

    /// One topic.
    public static func topic(_ name: String) -> Self { Self(kind: 2, name: name, isPrefix: false) }
    /// Topics with this prefix.
    public static func topics(prefix: String) -> Self { Self(kind: 2, name: prefix, isPrefix: true) }
    /// One group.
    public static func group(_ name: String) -> Self { Self(kind: 3, name: name, isPrefix: false) }
    /// One transactional id.
    public static func transactionalID(_ name: String) -> Self { Self(kind: 5, name: name, isPrefix: false) }
    /// Transactional ids with this prefix.
    public static func transactionalIDs(prefix: String) -> Self { Self(kind: 5, name: prefix, isPrefix: true) }
}

/// The operation of an access rule; the numbers are Kafka's.
public enum AccessOperation: Int8, Sendable {
    case read = 3
    case write = 4
    case describe = 8
    case describeConfigs = 10
}

/// One rule, from any host.
private struct AccessRule {
    let user: SecuredUser
    let operation: AccessOperation
    let resource: AccessResource
    let isAllowed: Bool

    /// Writes the fields shared by requests on rules and their filters.
    func put(to body: inout KafkaWire.Writer) {
        body.put(resource.kind)
        body.put(resource.name)
        body.put(Int8(resource.isPrefix ? 4 : 3))
        body.put("User:\(user.rawValue)")
        body.put("*")
        body.put(operation.rawValue)
        body.put(Int8(isAllowed ? 3 : 2))
    }
}

/// Access rules as `kafka-acls` makes them, without starting a Java program for each.
extension RealKafka {
    /// Adds rules that allow all of this, and waits until they take effect.
    public func allow(
        _ user: SecuredUser, _ operations: [AccessOperation], on resources: [AccessResource]
    ) async throws {
        try await change(user, operations, resources, isAllowed: true, adds: true)
    }

    /// Adds rules that deny all of this, and waits until they take effect.
    public func deny(
        _ user: SecuredUser, _ operations: [AccessOperation], on resources: [AccessResource]
    ) async throws {
        try await change(user, operations, resources, isAllowed: false, adds: true)
    }

    /// Removes rules that allow this, and waits until they are gone.
    public func takeBack(
        _ user: SecuredUser, _ operations: [AccessOperation], on resources: [AccessResource]
    ) async throws {
        try await change(user, operations, resources, isAllowed: true, adds: false)
    }

    /// Removes rules that deny this, and waits until they are gone.
    public func takeBackDenial(
        _ user: SecuredUser, _ operations: [AccessOperation], on resources: [AccessResource]
    ) async throws {
        try await change(user, operations, resources, isAllowed: false, adds: false)
    }

    private func change(
        _ user: SecuredUser, _ operations: [AccessOperation], _ resources: [AccessResource], isAllowed: Bool, adds: Bool
    ) async throws {
        let rules = resources.flatMap { resource in
            operations.map { AccessRule(user: user, operation: $0, resource: resource, isAllowed: isAllowed) }
        }
        let port = firstPort
        try await Blocking.run {
            var body = KafkaWire.Writer()
            body.put(Int32(rules.count))
            for rule in rules { rule.put(to: &body) }
            let answer = try KafkaWire.ask(port: port, adds ? 30 : 31, version: 1, body)
            // After the throttle time and the count; the first result stands for all.
            try KafkaWire.check(answer, at: 8, "changing permissions of \(user)")
        }
        // The controller has them; the broker learns of them a moment later.
        for rule in rules {
            let holds = try await eventually {
                try await Blocking.run {
                    var filter = KafkaWire.Writer()
                    rule.put(to: &filter)
                    let answer = try KafkaWire.ask(port: port, 29, version: 1, filter)
                    // After the throttle time, the error and its text.
                    try KafkaWire.check(answer, at: 4, "asking for permissions")
                    let length = Int16(bitPattern: UInt16(answer[6]) << 8 | UInt16(answer[7]))
                    return (KafkaWire.number(answer, at: 8 + Int(max(length, 0))) > 0) == adds
                }
            }
            guard holds else { throw ChildProcess.Failure(description: "a permission of \(user) does not hold") }
        }
    }
}
