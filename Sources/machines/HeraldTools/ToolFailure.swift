package import HeraldKafka

/// Why a tool could not do what it was asked for, as sentences for people.
package struct ToolFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        case failed
        case unreachable
    }

    package let kind: Kind
    /// What went wrong and how to fix it.
    package let description: String
    /// What the Kafka client said itself, for details; `nil` when the description has it.
    package let detail: String?

    package init(_ description: String, kind: Kind = .failed, detail: String? = nil) {
        self.kind = kind
        self.description = description
        self.detail = detail
    }

    package init(_ error: KafkaError) {
        self.init(error.words, kind: Self.kind(of: error), detail: Self.detail(of: error))
    }

    /// What a Kafka error prevents, and what to allow when it is forbidden.
    package init(_ consequence: String, _ error: KafkaError, allow permission: KafkaPermission? = nil) {
        self.init(
            "\(consequence): \(error.words)" + (permission.map(error.advice) ?? ""),
            kind: Self.kind(of: error), detail: Self.detail(of: error))
    }

    private static func detail(of error: KafkaError) -> String? {
        error.words == error.description ? nil : error.description
    }

    /// A leader or a coordinator that does not take office for as long as a tool waits is as good as none.
    private static func kind(of error: KafkaError) -> Kind {
        error.kind == .unreachable || error.kind == .settling ? .unreachable : .failed
    }

    /// Why a topic cannot be used.
    package init(topic: String, _ error: KafkaError, allow operations: KafkaPermission.Operation...) {
        switch error.kind {
        case .unknownTopic: self.init("there is no topic \(topic); make it with: herald topics apply")
        case .forbidden:
            self.init("this user may not use the topic \(topic); \(KafkaPermission(operations, on: [.topic(topic)]))")
        default: self.init("topic \(topic)", error)
        }
    }

    package init(noTransactions error: KafkaError) {
        self.init(
            "the brokers have no transactions (\(error)), and this needs them: what is published and the mark that "
                + "it was are written together, so that nobody is notified twice. Workers can do without "
                + "(delivery.guarantee: at-least-once), replays and campaigns cannot.")
    }

    package init(saying error: any Error) {
        switch error {
        case let failure as ToolFailure: self = failure
        case let error as KafkaError: self.init(error)
        default: self.init("\(error)")
        }
    }
}
