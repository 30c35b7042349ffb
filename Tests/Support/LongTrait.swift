import Foundation
public import Testing

/// A test that takes too long for every run: it runs with `TESTS_LONG=1`, as in `make long`.
public struct LongTrait: SuiteTrait, TestTrait {
    private let reason: String

    fileprivate init(_ reason: String) {
        self.reason = reason
    }

    /// Holds for every test of a suite.
    public var isRecursive: Bool { true }

    /// Skips the test unless long ones were requested; the run's last line names it.
    public func prepare(for test: Test) async throws {
        guard !test.isSuite, ProcessInfo.processInfo.environment["TESTS_LONG"] != "1" else { return }
        SkippedSuites.note(long: test.displayName ?? test.name)
        try await ConditionTrait.disabled("only in make long: \(reason)").prepare(for: test)
    }
}

extension Trait where Self == LongTrait {
    /// Leaves the test, or all of a suite, to `make long`.
    public static func long(_ reason: String) -> Self { LongTrait(reason) }
}
