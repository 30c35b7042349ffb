import Glibc

/// A file that is written as a whole or not at all: what was there before stays until ``finish()``.
///
/// Only its owner may read it, because it may hold what is nobody else's concern.
public final class OutputFile {
    /// Where it belongs, and where it is written until then; `nil` for what is no plain file, such as a pipe: that is written
    /// at once.
    private let places: (path: String, temporary: String)?
    private let descriptor: Int32
    private var isFinished = false

    /// Begins the file.
    public init(_ path: String) throws(Console.WriteFailure) {
        var information = stat()
        let isThere = stat(path, &information) == 0
        if isThere, information.st_mode & S_IFMT != S_IFREG {
            places = nil
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
        } else {
            // A link stays one.
            let target = isThere ? Self.resolved(path) : path
            let temporary = "\(target).\(getpid()).part"
            places = (target, temporary)
            descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        }
        guard descriptor >= 0 else { throw Console.WriteFailure(code: errno) }
    }

    deinit {
        close(descriptor)
        if let places, !isFinished { unlink(places.temporary) }
    }

    /// Where to write.
    public var stream: Console.Stream { .descriptor(descriptor) }

    /// Puts it where it belongs.
    public func finish() throws(Console.WriteFailure) {
        guard let places else { return }
        guard fsync(descriptor) == 0, rename(places.temporary, places.path) == 0 else {
            throw Console.WriteFailure(code: errno)
        }
        isFinished = true
    }

    private static func resolved(_ path: String) -> String {
        guard let name = realpath(path, nil) else { return path }
        defer { free(name) }
        return String(cString: name)
    }
}
