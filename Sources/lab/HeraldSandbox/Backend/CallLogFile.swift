import Glibc
import HeraldText

/// The call log on disk: one JSON line per call, in one write each, so that a reader never sees half a line.
final class CallLogFile: Sendable {
    private let descriptor: Int32

    init(path: String) throws(InputError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw InputError("cannot write the call log \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Writes the line, which includes its line break; returns false when the disk refuses it.
    func write(_ line: [UInt8]) -> Bool {
        Glibc.write(descriptor, line, line.count) == line.count
    }
}
