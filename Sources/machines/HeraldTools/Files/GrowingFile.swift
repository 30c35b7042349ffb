internal import Glibc

/// A file without a name that is written piece by piece: only this process can read it, and it is gone with the process
/// however that ends.
///
/// One thread at a time.
package final class GrowingFile {
    private let descriptor: Int32
    /// What it holds, for what is said of a failure.
    private let content: String
    /// How many bytes it has.
    package private(set) var byteCount = 0

    /// - Parameter content: what it holds, such as `what was uploaded`.
    package init(in directory: String, for content: String) throws {
        self.content = content
        descriptor = try SpooledFile.anonymousFile(in: directory)
    }

    deinit { close(descriptor) }

    /// Writes bytes behind the others; where that fails the file is as it was.
    package func append(_ bytes: some RandomAccessCollection<UInt8>) throws { try write(bytes, at: byteCount) }

    /// Writes bytes at a position; what comes before it may be written later.
    package func write(_ bytes: some RandomAccessCollection<UInt8>, at start: Int) throws {
        var rest = Array(bytes)[...]
        var position = start
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(position)) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw SpooledFile.failure("cannot keep \(content)") }
            rest = rest.dropFirst(written)
            position += written
        }
        byteCount = max(byteCount, position)
    }

    /// What it has now, to be read; nothing may be appended any more.
    package func finished() throws -> SpooledFile { SpooledFile(try duplicate()) }

    /// Another descriptor of it.
    func duplicate() throws -> Int32 {
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { throw SpooledFile.failure("cannot read \(content)") }
        return duplicate
    }
}
