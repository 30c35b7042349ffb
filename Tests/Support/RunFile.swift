import Foundation
import Glibc

/// A file that collects a run's notes, line by line, from all test processes; named by an environment variable.
public enum RunFile {
    /// Appends a line to the file named by `variable`; does nothing when it is not set.
    public static func append(_ line: String, to variable: String) {
        guard let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty else { return }
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { return }
        defer { close(file) }
        // One call for the whole line, because others append, too.
        let bytes = Array("\(line)\n".utf8)
        _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    }
}
