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

/// What everybody on this machine may do with a file.
///
/// It stands beside ``FileMark`` for the same reason.
public struct FileAccess: Equatable, Sendable {
    /// Whether everybody can read it.
    public let isReadable: Bool
    /// Whether everybody can write it.
    public let isWritable: Bool

    /// Access to the file at a path, through symbolic links; none to a pipe, nor to a file without a name (memfd).
    public init(ofOthersTo path: String) {
        var facts = stat()
        let isFile = stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && facts.st_nlink > 0
        isReadable = isFile && facts.st_mode & S_IROTH != 0
        isWritable = isFile && facts.st_mode & S_IWOTH != 0
    }
}
