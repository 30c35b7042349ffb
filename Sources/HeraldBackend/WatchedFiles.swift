internal import Glibc
internal import HeraldThreads

/// Notices when any of some files becomes another one: by its place on the disk, size and time of change.
struct WatchedFiles {
    private struct Mark: Equatable {
        var device: UInt
        var inode: UInt
        var size: Int
        var seconds: Int
        var nanoseconds: Int
    }

    /// A file that can't be looked at, and why.
    struct Unreadable: Error {
        var path: String
        var reason: String
    }

    private let paths: [String]
    private var marks: [Mark?]

    /// The files as they are now; one that is missing is a change once it is there.
    init(_ paths: [String]) {
        self.paths = paths
        marks = paths.map { try? Self.mark(of: $0) }
    }

    var isEmpty: Bool { paths.isEmpty }

    /// Whether any file has changed since the last look; throws, and notes nothing, when one can't be looked at.
    mutating func haveChanged() throws(Unreadable) -> Bool {
        var now: [Mark?] = []
        for path in paths { now.append(try Self.mark(of: path)) }
        defer { marks = now }
        return marks != now
    }

    private static func mark(of path: String) throws(Unreadable) -> Mark {
        var facts = stat()
        // Through symbolic links: that is how Kubernetes changes a secret's files all at once.
        guard stat(path, &facts) == 0, access(path, R_OK) == 0 else {
            throw Unreadable(path: path, reason: SystemError.text(of: errno))
        }
        return Mark(
            device: UInt(facts.st_dev), inode: UInt(facts.st_ino), size: Int(facts.st_size),
            seconds: facts.st_mtim.tv_sec, nanoseconds: facts.st_mtim.tv_nsec)
    }
}
