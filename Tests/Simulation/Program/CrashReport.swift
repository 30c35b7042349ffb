import Glibc

/// Names the case under way when an engine traps.
///
/// A trap ends the process, and its signal handler may only write bytes that already exist.
enum CrashReport {
    private static let width = 64
    private nonisolated(unsafe) static var lines: UnsafeMutableBufferPointer<UInt8>?

    static func install(jobs: Int) {
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: jobs * width)
        buffer.initialize(repeating: UInt8(ascii: " "))
        lines = buffer
        for trap in [SIGILL, SIGTRAP, SIGSEGV, SIGABRT] {
            signal(trap) { number in
                if let lines = CrashReport.lines { _ = write(STDERR_FILENO, lines.baseAddress, lines.count) }
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    /// Notes the case that job `job` runs from now on, if any.
    static func note(_ run: Case?, job: Int) {
        guard let lines else { return }
        var text = run.map { Array("crashed? make simulate \($0)".utf8) } ?? []
        text += Array(repeating: UInt8(ascii: " "), count: width - 1 - text.count)
        text.append(UInt8(ascii: "\n"))
        for (index, byte) in text.enumerated() { lines[job * width + index] = byte }
    }
}

/// Writes the reason to standard error, and ends the process.
func fail(_ text: String, status: Int32) -> Never {
    fflush(nil)
    if !text.isEmpty { Array("\(text)\n".utf8).withUnsafeBytes { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) } }
    exit(status)
}
