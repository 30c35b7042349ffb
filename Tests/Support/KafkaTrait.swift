public import Testing

/// The trait of tests with a real Kafka: they run only where there is one, and they need real time.
public struct KafkaTrait: SuiteTrait, TestTrait {
    private let condition: ConditionTrait

    fileprivate init(_ condition: ConditionTrait) {
        self.condition = condition
    }

    /// Holds for every test of a suite.
    public var isRecursive: Bool { true }

    /// Skips tests without a Kafka.
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

    /// Like ``realKafka(_:)``, for tests that start and harm their own brokers: only with `KAFKA_HOME`.
    public static func ownKafka(_ name: String) -> Self {
        KafkaTrait(
            .enabled("needs KAFKA_HOME") {
                if !RealKafka.canStart { SkippedSuites.note(name) }
                return RealKafka.canStart
            })
    }
}
