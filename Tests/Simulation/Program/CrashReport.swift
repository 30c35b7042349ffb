import Glibc

/// Names what was being run when an engine trapped.
///
/// A trap ends the process; what its signal handler may do is to write bytes that are there already.
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

    /// Job `job` runs this from here on, or nothing.
    static func note(_ run: Case?, job: Int) {
        guard let lines else { return }
        var text = run.map { Array("crashed? make simulate \($0)".utf8) } ?? []
        text += Array(repeating: UInt8(ascii: " "), count: width - 1 - text.count)
        text.append(UInt8(ascii: "\n"))
        for (index, byte) in text.enumerated() { lines[job * width + index] = byte }
    }
}

/// Says why, on standard error, and ends.
func fail(_ text: String, status: Int32) -> Never {
    fflush(nil)
    if !text.isEmpty { Array("\(text)\n".utf8).withUnsafeBytes { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) } }
    exit(status)
}
