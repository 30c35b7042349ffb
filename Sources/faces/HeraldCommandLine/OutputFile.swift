import Glibc

/// A file that is written as a whole or not at all: what was there before stays until ``finish()``.
///
/// Only its owner may read it, because it may hold private data.
package final class OutputFile {
    /// Where it belongs, and where it is written until then; `nil` for what is no plain file, such as a pipe: that is written
    /// at once.
    private let places: (path: String, temporary: String)?
    private let name: String
    private let descriptor: Int32
    private var isFinished = false
    private static let mostParts = 100

    package init(_ path: String) throws {
        name = path
        var information = stat()
        let isThere = stat(path, &information) == 0
        if isThere, information.st_mode & S_IFMT != S_IFREG {
            places = nil
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
        } else {
            // A link stays one.
            let target = isThere ? Self.resolved(path) : path
            let part = Self.newPart(of: target)
            places = (target, part.path)
            descriptor = part.descriptor
        }
        guard descriptor >= 0 else { throw CommandFailure(writing: errno, to: path) }
    }

    /// A new file beside the target; the descriptor is negative when there can be none.
    ///
    /// What lies there already, another user's link for instance, is neither followed nor emptied.
    private static func newPart(of target: String) -> (path: String, descriptor: Int32) {
        for number in 1... {
            let path = "\(target).\(getpid())-\(number).part"
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if descriptor >= 0 || errno != EEXIST || number == mostParts { return (path, descriptor) }
        }
        return (target, -1)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if descriptor >= 0, let places, !isFinished { unlink(places.temporary) }
    }

    package var stream: Console.Stream { .descriptor(descriptor, name: name) }

    /// Puts the file where it belongs.
    package func finish() throws {
        guard let places else { return }
        guard fsync(descriptor) == 0, rename(places.temporary, places.path) == 0 else {
            throw CommandFailure(writing: errno, to: name)
        }
        isFinished = true
    }

    private static func resolved(_ path: String) -> String {
        guard let name = realpath(path, nil) else { return path }
        defer { free(name) }
        return String(cString: name)
    }
}
