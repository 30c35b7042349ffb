import Foundation
import Synchronization
public import Testing

/// A test that needs real time, with other processes, brokers or sockets: a busy machine may hurt it.
///
/// The file named by `TESTS_REAL_TIME` gets a line for each such test of a run, its identifier as Swift Testing's event
/// stream has it: these, and no others, may be run again when they fail.
public struct RealTimeTrait: SuiteTrait, TestTrait {
    private static let noted = Mutex<Set<String>>([])

    /// Holds for every test of a suite.
    public var isRecursive: Bool { true }

    /// Writes the test's line.
    public func prepare(for test: Test) async throws { Self.note(test) }

    static func note(_ test: Test) {
        let name = String(describing: test.id)
        guard !test.isSuite, noted.withLock({ $0.insert(name).inserted }) else { return }
        RunFile.append(name, to: "TESTS_REAL_TIME")
    }
}

extension Trait where Self == RealTimeTrait {
    /// Says that the test, or every test of a suite, needs real time.
    public static var realTime: Self { RealTimeTrait() }
}
