import Glibc
import HeraldText
import HeraldThreads
import HeraldTools

/// A typed secret, with a path that settings can name.
///
/// It is in a file without a name until it gets its own, so that an interrupted interview leaves no trace.
final class HeldSecret: Sendable {
    let text: Secret
    private let descriptor: Int32

    init(_ text: Secret, in directory: String) throws {
        self.text = text
        descriptor = try SpooledFile.anonymousFile(in: directory)
        var rest = Array(text.reveal().utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw SystemError(call: "write", number: errno) }
            rest = rest.dropFirst(count)
        }
    }

    deinit { close(descriptor) }

    /// Valid in this process while this object lives.
    var path: String { "/proc/self/fd/\(descriptor)" }
}
