public import Foundation
import Glibc
import Synchronization

/// Runs Java programs: each takes a core for a second or more to start, so only two start at a time.
public enum Java {
    private static let places = Places(2)

    /// The common prefix of commands on Kafka's classes, which come from the shared archive, if there is one.
    public static func command(home: String, heap: String = "256m") -> [String] {
        ["java", "-Xmx\(heap)", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
            + KafkaTemplate.archiveOptions(home: home) + ["-cp", "\(home)/libs/*"]
    }

    /// Starts programs and waits until they serve, both in `body`, which blocks; holds their places meanwhile.
    ///
    /// The file named by `TESTS_JVM_LOG` gets a line for each: its kind, and the seconds until it served.
    public static func start<Value>(_ kinds: [String], _ body: () throws -> Value) rethrows -> Value {
        // Programs that start together need each other to become ready, so their places are taken at once.
        let count = min(kinds.count, places.count)
        places.take(count)
        defer { places.give(count) }
        let begin = ContinuousClock.now
        let value = try body()
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        for kind in kinds { RunFile.append(kind + String(format: "\t%.2f", seconds), to: "TESTS_JVM_LOG") }
        return value
    }

    /// Runs one of Kafka's own programs to its end, which must be a success.
    public static func run(_ program: String, _ arguments: [String]) async throws {
        try await Blocking.run {
            let home = try RealKafka.requireHome()
            let log = FileManager.default.temporaryDirectory.appending(path: "herald-java-\(UUID().uuidString).log")
            defer { try? FileManager.default.removeItem(at: log) }
            let status = try start([program]) {
                try ChildProcess(command(home: home) + [program] + arguments, output: log).wait()
            }
            guard status == 0 else {
                throw ChildProcess.Failure(
                    description: "\(program) failed: \((try? String(contentsOf: log, encoding: .utf8)) ?? "")")
            }
        }
    }

    /// Starts a program on Kafka's classes and waits until this word is in its log.
    public static func start(_ arguments: [String], untilItWrites word: String, log: URL) async throws -> ChildProcess {
        try await Blocking.run {
            let home = try RealKafka.requireHome()
            return try start([arguments.first ?? ""]) {
                let program = try ChildProcess(command(home: home) + arguments, output: log)
                func written() -> String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
                while !written().contains(word) {
                    guard program.isRunning else { throw ChildProcess.Failure(description: written()) }
                    // No event announces its start.
                    usleep(50_000)
                }
                return program
            }
        }
    }
}

/// Places that callers block for, and get in order of arrival.
private final class Places: Sendable {
    private struct State {
        var free: Int
        var asked = 0
        var served = 0
    }

    let count: Int
    private let state: Mutex<State>
    private let changed = NSCondition()

    init(_ count: Int) {
        self.count = count
        state = Mutex(State(free: count))
    }

    func take(_ wanted: Int) {
        changed.lock()
        defer { changed.unlock() }
        let ticket = state.withLock { state in
            defer { state.asked += 1 }
            return state.asked
        }
        while !takes(wanted, ticket) { changed.wait() }
        // It may be the next one's turn.
        changed.broadcast()
    }

    private func takes(_ wanted: Int, _ ticket: Int) -> Bool {
        state.withLock { state in
            guard state.served == ticket, state.free >= wanted else { return false }
            state.free -= wanted
            state.served += 1
            return true
        }
    }

    func give(_ given: Int) {
        changed.lock()
        defer { changed.unlock() }
        state.withLock { $0.free += given }
        changed.broadcast()
    }
}
