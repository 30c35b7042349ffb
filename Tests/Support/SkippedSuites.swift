import Foundation
import Synchronization

/// Reports at the end of a run the suites that could not run.
public enum SkippedSuites {
    private static let names = Mutex<Set<String>>([])

    private static let report: Void = AtExit.run {
        let list = names.withLock { $0.sorted() }
        let text = "not run without a real broker (KAFKA_HOME; for most KAFKA_BOOTSTRAP_SERVERS will do): "
        FileHandle.standardError.write(Data("\(text)\(list.joined(separator: "; "))\n".utf8))
    }

    private static let absent = Mutex<Set<String>>([])

    private static let absenceReport: Void = AtExit.run {
        let list = absent.withLock { $0.sorted() }.joined(separator: "; ")
        FileHandle.standardError.write(Data("not run, because it is not on this machine: \(list)\n".utf8))
    }

    /// Notes a check that was left out because a program is missing.
    public static func note(absent name: String) {
        _ = absenceReport
        _ = absent.withLock { $0.insert(name) }
    }

    private static let prometheusReport: Void = AtExit.run {
        let text = "not run without promtool and prometheus (Debian package prometheus): what they say of the metrics\n"
        FileHandle.standardError.write(Data(text.utf8))
    }

    /// Notes that tests with Prometheus do not run.
    static func noteWithoutPrometheus() { _ = prometheusReport }

    private static let long = Mutex<Set<String>>([])

    private static let longReport: Void = AtExit.run {
        let list = long.withLock { $0.sorted() }
        let text = "left to make long: \(list.count) tests: \(list.joined(separator: "; "))\n"
        FileHandle.standardError.write(Data(text.utf8))
    }

    /// Notes a test that is too long for every run.
    static func note(long title: String) {
        _ = longReport
        _ = long.withLock { $0.insert(title) }
    }

    /// Notes a suite that does not run.
    static func note(_ name: String) {
        _ = report
        _ = names.withLock { $0.insert(name) }
    }
}
