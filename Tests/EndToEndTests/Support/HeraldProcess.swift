import Foundation
import Glibc
import TestSupport

/// The real `herald` as a child process, with its log in its own file.
final class HeraldProcess: Sendable {
    /// A line of the log.
    struct LogLine: Sendable {
        var level: String
        var message: String
        /// The whole line.
        var text: String
    }

    private let process: ChildProcess
    private let log: URL

    /// Starts `herald` with these arguments; standard output and error are appended to `log`.
    ///
    /// - Parameter wrapper: A program and its arguments that starts it in its own place.
    init(
        _ arguments: [String], under wrapper: [String] = [], log: URL, environment: [String: String] = [:]
    ) throws {
        self.log = log
        let program = Bundle.main.bundleURL.appending(path: "herald").path
        process = try ChildProcess(wrapper + [program] + arguments, environment: environment, output: log)
    }

    /// Its peak memory (VmHWM), in kilobytes.
    var peakKilobytes: Int? {
        let status = try? String(contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) }
    }

    /// Its output so far.
    var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    /// The complete lines of its log.
    var logLines: [LogLine] {
        output.split(separator: "\n").compactMap { line in
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let level = object["level"] as? String, let message = object["message"] as? String
            else { return nil }
            return LogLine(level: level, message: message, text: String(line))
        }
    }

    /// Waits for a line whose message contains `part`.
    @discardableResult
    func waitForLog(_ part: String, count: Int = 1, within seconds: Int = Patience.seconds) async throws -> LogLine {
        var found: [LogLine] = []
        _ = try await eventually(within: seconds) {
            found = logLines.filter { $0.message.contains(part) }
            return found.count >= count || !process.isRunning
        }
        guard found.count >= count, let last = found.last else {
            throw WorldError("the log has no line with \"\(part)\" within \(seconds) s:\n\(tail)")
        }
        return last
    }

    /// Waits for the end; returns its exit status, or 128 and the signal.
    func waitForExit(within seconds: Int = Patience.seconds) async throws -> Int32 {
        guard try await eventually(within: seconds, { !process.isRunning }) else {
            throw WorldError("the process has not ended within \(seconds) s:\n\(tail)")
        }
        return process.wait()
    }

    /// Its process id.
    var id: pid_t { process.id }

    /// The descendant process of this name.
    func descendant(named name: String) -> pid_t? {
        func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        var waiting = [process.id]
        while let id = waiting.popLast() {
            if text("/proc/\(id)/comm").hasPrefix(name) { return id }
            waiting += text("/proc/\(id)/task/\(id)/children").split(separator: " ").compactMap { pid_t($0) }
        }
        return nil
    }

    /// Whether it runs.
    var isRunning: Bool { process.isRunning }

    /// Asks it to stop (SIGTERM).
    func terminate() { process.signal(SIGTERM) }

    /// Makes it read its settings again (SIGHUP).
    func hangUp() { process.signal(SIGHUP) }

    /// Kills it (SIGKILL) and waits until it is gone.
    func kill() { process.kill() }

    /// Stops it from running (SIGSTOP), like a hang, and waits until it stands still.
    func pause() { process.pause() }

    /// Lets it run again (SIGCONT).
    func resume() { process.signal(SIGCONT) }

    /// The end of the log, for a failure's description; after a crash, the backtrace from its beginning.
    var tail: String {
        let lines = output.split(separator: "\n")
        guard let crash = lines.firstIndex(where: { $0.contains("Fatal error") || $0.contains("*** ") }) else {
            return lines.suffix(12).joined(separator: "\n")
        }
        return lines[max(0, crash - 12)..<min(lines.count, crash + 80)].joined(separator: "\n")
    }
}

/// A flaw in a test's fixture.
struct WorldError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}
