public import Testing

/// What tests with a real Kafka have in common: they run only where there is one, and they need real time.
public struct KafkaTrait: SuiteTrait, TestTrait {
    private let condition: ConditionTrait

    fileprivate init(_ condition: ConditionTrait) {
        self.condition = condition
    }

    /// Holds for every test of a suite.
    public var isRecursive: Bool { true }

    /// Skips what has nothing to run on.
    public func prepare(for test: Test) async throws {
        try await condition.prepare(for: test)
        RealTimeTrait.note(test)
    }
}

extension Trait where Self == KafkaTrait {
    /// Runs the suite, or test, only with a real Kafka; without one, the run's last line names it.
    public static func realKafka(_ name: String) -> Self {
        KafkaTrait(
            .enabled("needs KAFKA_HOME or KAFKA_BOOTSTRAP_SERVERS") {
                if !RealKafka.isAvailable { SkippedSuites.note(name) }
                return RealKafka.isAvailable
            })
    }

    /// As ``realKafka(_:)``, for what starts and hurts brokers of its own: only with `KAFKA_HOME`.
    public static func ownKafka(_ name: String) -> Self {
        KafkaTrait(
            .enabled("needs KAFKA_HOME") {
                if !RealKafka.canStart { SkippedSuites.note(name) }
                return RealKafka.canStart
            })
    }
}
