internal import Glibc

/// Which file there is at a path: its place on the disk, its size and when it was changed.
///
/// It stands here because `stat` belongs, in a module that imports C libraries, to whichever of them is loaded first: with the whole
/// module compiled at once its fields cannot be used there.
public struct FileMark: Equatable, Sendable {
    private let device: UInt
    private let inode: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// The file at a path, through symbolic links: that is how Kubernetes changes a secret's files all at once.
    ///
    /// Throws when there is none or this process may not read it.
    public init(of path: String) throws(SystemError) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw SystemError(call: "stat", number: errno) }
        guard access(path, R_OK) == 0 else { throw SystemError(call: "access", number: errno) }
        device = UInt(facts.st_dev)
        inode = UInt(facts.st_ino)
        size = Int(facts.st_size)
        seconds = facts.st_mtim.tv_sec
        nanoseconds = facts.st_mtim.tv_nsec
    }
}
