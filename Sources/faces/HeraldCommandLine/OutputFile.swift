import Glibc

/// A file that is written as a whole or not at all: the former content stays until ``finish()``.
///
/// By default only its owner may read it, because it may hold private data.
package final class OutputFile {
    package enum Readers: Sendable {
        case owner
        /// The users allowed by the process's umask.
        case umask

        fileprivate var mode: mode_t { self == .owner ? 0o600 : 0o666 }
    }

    /// The final and the temporary path; `nil` for a special file such as a pipe, which is written directly.
    private let places: (path: String, temporary: String)?
    private let name: String
    private let descriptor: Int32
    private let replaces: Bool
    private var isFinished = false
    private static let mostParts = 100

    /// - Parameters:
    ///   - readers: The users that may read the finished file.
    ///   - replaces: Whether it replaces an existing file; otherwise this fails if there is one.
    package init(_ path: String, readers: Readers = .owner, replaces: Bool = true) throws {
        name = path
        self.replaces = replaces
        var information = stat()
        let isThere = stat(path, &information) == 0
        if isThere, !replaces { throw CommandFailure(writing: EEXIST, to: path) }
        if isThere, information.st_mode & S_IFMT != S_IFREG {
            places = nil
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
        } else {
            // A link stays a link.
            let target = isThere ? Self.resolved(path) : path
            let part = Self.newPart(of: target, readers)
            places = (target, part.path)
            descriptor = part.descriptor
        }
        guard descriptor >= 0 else { throw CommandFailure(writing: errno, to: path) }
    }

    /// A new file beside the target; the descriptor is negative when none can be made.
    ///
    /// An existing file there, such as another user's link, is neither followed nor emptied.
    private static func newPart(of target: String, _ readers: Readers) -> (path: String, descriptor: Int32) {
        for number in 1... {
            let path = "\(target).\(getpid())-\(number).part"
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, readers.mode)
            if descriptor >= 0 || errno != EEXIST || number == mostParts { return (path, descriptor) }
        }
        return (target, -1)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if descriptor >= 0, let places, !isFinished { unlink(places.temporary) }
    }

    package var stream: Console.Stream { .descriptor(descriptor, name: name) }

    package func finish() throws {
        guard let places else { return }
        guard fsync(descriptor) == 0, place(places.temporary, at: places.path) else {
            throw CommandFailure(writing: errno, to: name)
        }
        isFinished = true
    }

    /// Unlike `rename`, `link` does not replace a file that appeared meanwhile.
    private func place(_ temporary: String, at path: String) -> Bool {
        guard !replaces else { return rename(temporary, path) == 0 }
        return link(temporary, path) == 0 && unlink(temporary) == 0
    }

    private static func resolved(_ path: String) -> String {
        guard let name = realpath(path, nil) else { return path }
        defer { free(name) }
        return String(cString: name)
    }
}
