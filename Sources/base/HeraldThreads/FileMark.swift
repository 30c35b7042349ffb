internal import Glibc

/// The identity of the file at a path: its place on the disk, its size and its time of change.
///
/// It lives in this module because `stat` belongs to whichever C library is imported first: with whole-module
/// compilation its fields cannot be used in a module that imports several.
public struct FileMark: Equatable, Sendable {
    private let device: UInt
    private let inode: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// The file at a path, through symbolic links: Kubernetes replaces a secret's files by changing one link.
    ///
    /// Throws when it is missing or this process may not read it.
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

/// The access that every user of this machine has to a file.
///
/// It lives beside ``FileMark`` for the same reason.
public struct FileAccess: Equatable, Sendable {
    /// Whether every user can read it.
    public let isReadable: Bool
    /// Whether every user can write it.
    public let isWritable: Bool

    /// Access to the file at a path, through symbolic links; none to a pipe or an unnamed file (memfd).
    public init(ofOthersTo path: String) {
        var facts = stat()
        let isFile = stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && facts.st_nlink > 0
        isReadable = isFile && facts.st_mode & S_IROTH != 0
        isWritable = isFile && facts.st_mode & S_IWOTH != 0
    }
}
