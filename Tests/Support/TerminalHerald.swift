public import Foundation
import Glibc
import Synchronization

/// `herald` on its own terminal, on which a test types; it is killed with the object.
public final class TerminalHerald: Sendable {
    /// The output of a terminal.
    private final class Screen: Sendable {
        let bytes = Mutex<[UInt8]>([])
        /// The length of the part that has been waited for.
        let read = Mutex(0)
    }

    /// `TIOCSPTLCK` and `TIOCGPTN`.
    private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

    private let process = Process()
    private let terminal: Int32
    private let screen = Screen()

    /// Starts it in this directory.
    public init(_ arguments: [String], in directory: URL, environment: [String: String] = [:]) throws {
        terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // The work of posix_openpt and its companions, which Swift's Glibc lacks.
        var (lock, number): (Int32, UInt32) = (0, 0)
        guard terminal >= 0, ioctl(terminal, Self.setLock, &lock) == 0, ioctl(terminal, Self.getNumber, &number) == 0
        else { throw ChildProcess.Failure(description: "no terminal: \(String(cString: strerror(errno)))") }
        let other = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard other >= 0 else { throw ChildProcess.Failure(description: "no terminal's other end") }
        let end = FileHandle(fileDescriptor: other, closeOnDealloc: true)
        process.executableURL = Bundle.main.bundleURL.appending(path: "herald")
        process.currentDirectoryURL = directory
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["NO_COLOR": "1"]) { $1 }
            .merging(environment) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (end, end, end)
        try process.run()
        try end.close()
        Thread.detachNewThread { [screen, terminal] in
            var chunk = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = read(terminal, &chunk, chunk.count)
                // EIO: no process has it open any more.
                guard count > 0 else { return }
                screen.bytes.withLock { $0 += chunk[..<count] }
            }
        }
    }

    deinit {
        if process.isRunning {
            signal(SIGKILL)
            process.waitUntilExit()
        }
        close(terminal)
    }

    /// Everything shown on the terminal.
    public var text: String { screen.bytes.withLock { String(decoding: $0, as: UTF8.self) } }

    /// Waits until this is shown, after all that was waited for before.
    public func wait(for words: String) async throws {
        let isShown = try await eventually {
            let bytes = self.screen.bytes.withLock { $0 }
            return self.screen.read.withLock { read in
                guard let range = bytes[read...].firstRange(of: Array(words.utf8)) else { return false }
                read = range.upperBound
                return true
            }
        }
        guard isShown else { throw ChildProcess.Failure(description: "\"\(words)\" is not shown:\n\(text)") }
    }

    /// Waits for a prompt and types a line.
    public func answer(_ prompt: String, _ line: String) async throws {
        try await wait(for: prompt)
        type(line + "\n")
    }

    /// Types.
    public func type(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
    }

    /// Whether the terminal shows typed text.
    public var showsInput: Bool {
        var mode = termios()
        return tcgetattr(terminal, &mode) == 0 && mode.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Sends it a signal.
    public func signal(_ number: Int32) { Glibc.kill(process.processIdentifier, number) }

    /// Waits for its end.
    public func end() async throws -> Int32 {
        try await Blocking.run { [process] in process.waitUntilExit() }
        return process.terminationStatus
    }
}
