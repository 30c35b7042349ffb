public import Foundation
import Glibc
import Synchronization

/// A program that runs beside the tests and dies with them, even when they are killed.
public final class ChildProcess: Sendable {
    /// A program's failure to start, or its bad end.
    public struct Failure: Error, CustomStringConvertible {
        /// The failure, for people.
        public var description: String
    }

    /// The process's number.
    public let id: pid_t
    /// Its status, as in `waitpid`; `nil` while it runs.
    private let status = Mutex<Int32?>(nil)

    /// Starts a program found on `PATH`; standard input is empty.
    ///
    /// - Parameters:
    ///   - environment: Added to this process's own.
    ///   - output: A file that standard output and error are appended to.
    public init(_ arguments: [String], environment: [String: String] = [:], output: URL) throws {
        let all = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        let command = ["setpriv", "--pdeathsig", "KILL", "--"] + arguments
        let result = SpawnThread.shared.run { Self.spawn(command, all, output.path) }
        guard result > 0 else {
            throw Failure(description: "cannot start \(arguments.first ?? ""): \(String(cString: strerror(-result)))")
        }
        id = result
    }

    /// The child's number, or a negative error number.
    private static func spawn(_ arguments: [String], _ environment: [String], _ output: String) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // If the child inherited another test's socket or pipe, its peer would never see it closed. Other tests open
        // some at this very moment, so numbers that are not open are closed too, which is no error below the limit.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let largest = (names.compactMap { Int32($0) }.max() ?? 2) + 1_024
        for descriptor in 3..<min(largest, Int32(clamping: sysconf(Int32(_SC_OPEN_MAX)))) {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals that this process ignores or blocks reach the child.
        var every = sigset_t()
        sigfillset(&every)
        posix_spawnattr_setsigdefault(&attributes, &every)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        var child: pid_t = 0
        let error = posix_spawnp(&child, arguments[0], &actions, &attributes, &argv, &envp)
        return error == 0 ? child : -error
    }

    /// Sends a signal; does nothing when the process has ended.
    public func signal(_ signal: Int32) {
        status.withLock { status in
            // The number cannot be reused before the child is waited for here.
            if status == nil { Glibc.kill(id, signal) }
        }
    }

    /// Stops the process from running, and waits until all of its threads stand still.
    public func pause() {
        signal(SIGSTOP)
        var facts = siginfo_t()
        while waitid(P_PID, id_t(id), &facts, WSTOPPED | WEXITED | WNOWAIT) == -1, errno == EINTR {}
    }

    /// Whether the process still runs.
    public var isRunning: Bool { collect(WNOHANG) == nil }

    /// Waits for the process to end: its exit status, or 128 and the signal that ended it.
    public func wait() -> Int32 {
        collect(0) ?? 0
    }

    private func collect(_ options: Int32) -> Int32? {
        if let known = status.withLock({ $0 }) { return known }
        // Without the lock, which would block signals meanwhile; leaves the zombie for the second call below.
        var information = siginfo_t()
        guard waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT | options) == 0 else {
            return status.withLock { $0 }
        }
        return status.withLock { status in
            if let status { return status }
            var raw: Int32 = 0
            guard waitpid(id, &raw, WNOHANG) == id else { return nil }
            let ended = raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + (raw & 0x7f)
            status = ended
            return ended
        }
    }

    /// Ends the process at once and waits for it.
    public func kill() {
        signal(SIGKILL)
        _ = wait()
    }
}
