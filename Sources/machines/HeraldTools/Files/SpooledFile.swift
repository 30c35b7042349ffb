internal import Glibc

/// Bytes that are read as often as needed, at any place, and are the same each time.
///
/// What is not a regular file (standard input, a pipe) is copied to a file without a name first, which is gone with the
/// process however that ends.
package final class SpooledFile: Sendable {
    private static let chunkBytes = 65_536

    private let descriptor: Int32
    private let opened: stat
    /// How many bytes there are; what is appended after the beginning does not count.
    package let byteCount: Int

    /// Opens the file at this path; reads standard input to its end for `-`.
    ///
    /// - Parameter directory: where a copy goes, if one is needed.
    package convenience init(path: String, copyingInto directory: String) throws {
        let isInput = path == "-"
        let name = isInput ? "standard input" : path
        let source = isInput ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw Self.failure("cannot \(isInput ? "read" : "open") \(name)") }
        var about = stat()
        // A shell's `< file` may stand anywhere in it, so it is copied too.
        if fstat(source, &about) == 0, about.st_mode & S_IFMT == S_IFREG, lseek(source, 0, SEEK_CUR) == 0 {
            self.init(source)
            return
        }
        defer { close(source) }
        let copy = try GrowingFile(in: directory, for: "a copy of \(name)")
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        while true {
            let count = Glibc.read(source, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure("cannot read \(name)") }
            if count == 0 { break }
            try copy.append(chunk[..<count])
        }
        self.init(try copy.duplicate())
    }

    /// What a descriptor is of, which is closed with it.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var about = stat()
        fstat(descriptor, &about)
        opened = about
        byteCount = Int(about.st_size)
    }

    deinit { close(descriptor) }

    /// Whether it is unchanged since it was opened, as far as its size and its time of change tell.
    package var isUnchanged: Bool {
        var about = stat()
        return fstat(descriptor, &about) == 0 && about.st_size == opened.st_size
            && about.st_mtim.tv_sec == opened.st_mtim.tv_sec && about.st_mtim.tv_nsec == opened.st_mtim.tv_nsec
    }

    /// Whether the path names this file.
    package func isSameFile(as path: String) -> Bool {
        var other = stat()
        return stat(path, &other) == 0 && other.st_ino == opened.st_ino && other.st_dev == opened.st_dev
    }

    /// Reads up to so many bytes from a position into the buffer, behind its first `start` bytes; how many there were.
    ///
    /// 0 at the end, and before it only when the file was cut off, which throws.
    package func read(into buffer: inout [UInt8], at start: Int, count: Int, from position: Int) throws -> Int {
        let wanted = min(count, byteCount - position, buffer.count - start)
        guard wanted > 0 else { return 0 }
        while true {
            let got = buffer.withUnsafeMutableBytes { bytes in
                pread(descriptor, bytes.baseAddress.map { $0 + start }, wanted, off_t(position))
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else {
                throw got == 0 ? ToolFailure("the file was cut off while it was read") : Self.failure("cannot read")
            }
            return got
        }
    }

    /// Another descriptor of it, which the caller closes.
    package func duplicate() throws -> Int32 {
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { throw Self.failure("cannot read the file") }
        return duplicate
    }

    /// A file without a name in this directory; the caller closes it.
    package static func anonymousFile(in directory: String) throws -> Int32 {
        var path = Array("\(directory)/herald-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw failure("cannot make a file in \(directory)") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(path)
        return descriptor
    }

    static func failure(_ what: String) -> ToolFailure {
        ToolFailure("\(what): \(String(cString: strerror(errno)))")
    }
}
