import Foundation
import Synchronization
public import Testing

/// A test that needs real time, with other processes, brokers or sockets: a busy machine may disturb it.
///
/// The file named by `TESTS_REAL_TIME` gets a line for each such test of a run, its identifier in Swift Testing's event
/// stream: only these may be run again when they fail.
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
    /// Marks the test, or every test of a suite, as needing real time.
    public static var realTime: Self { RealTimeTrait() }
}
