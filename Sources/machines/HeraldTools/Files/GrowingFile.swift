internal import Glibc

/// A file without a name that is written piece by piece: only this process can read it, and it is gone with the process
/// however that ends.
///
/// One thread at a time.
package final class GrowingFile {
    private let descriptor: Int32
    /// How many bytes it has.
    package private(set) var byteCount = 0

    package init(in directory: String) throws {
        descriptor = try SpooledFile.anonymousFile(in: directory)
    }

    deinit { close(descriptor) }

    /// Writes bytes behind the others; where that fails the file is as it was.
    package func append(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        var position = byteCount
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(position)) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw SpooledFile.failure("cannot keep what was uploaded") }
            rest = rest.dropFirst(written)
            position += written
        }
        byteCount = position
    }

    /// What it has now, to be read; nothing may be appended any more.
    package func finished() throws -> SpooledFile { try SpooledFile(duplicating: descriptor) }
}
