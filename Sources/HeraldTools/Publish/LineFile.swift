internal import Glibc

/// One line of a file.
public struct TextLine: Sendable, Equatable {
    /// Its number, from 1.
    public var number: Int
    /// Its bytes without the line's end; cut off when there are too many.
    public var bytes: [UInt8]
    /// How many bytes it has.
    public var byteCount: Int

    /// A line of a file.
    public init(number: Int, bytes: [UInt8], byteCount: Int) {
        self.number = number
        self.bytes = bytes
        self.byteCount = byteCount
    }
}

/// A file of lines that is read as often as needed, in bounded memory, and is the same each time.
///
/// What is not a regular file (standard input, a pipe) is copied to a file without a name first, which is gone with the
/// process however that ends.
public final class LineFile {
    private static let chunkBytes = 65_536

    private let descriptor: Int32
    /// What is appended after the beginning does not count.
    private let byteCount: off_t

    /// Opens the file at this path.
    ///
    /// - Parameter directory: where a copy goes, if one is needed.
    public convenience init(path: String, copyingInto directory: String) throws(ToolFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("cannot open \(path)") }
        try self.init(owning: descriptor, name: path, copyingInto: directory)
    }

    /// Reads standard input to its end.
    ///
    /// - Parameter directory: where the copy goes.
    public convenience init(standardInputCopiedInto directory: String) throws(ToolFailure) {
        let descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw Self.failure("cannot read standard input") }
        try self.init(owning: descriptor, name: "standard input", copyingInto: directory)
    }

    private init(owning source: Int32, name: String, copyingInto directory: String) throws(ToolFailure) {
        var about = stat()
        guard fstat(source, &about) == 0 else {
            let failure = Self.failure("cannot read \(name)")
            close(source)
            throw failure
        }
        // A shell's `< file` may stand anywhere in it, so it is copied too.
        if about.st_mode & S_IFMT == S_IFREG, lseek(source, 0, SEEK_CUR) == 0 {
            descriptor = source
            byteCount = about.st_size
            return
        }
        defer { close(source) }
        let copy = try Self.anonymousFile(in: directory)
        do throws(ToolFailure) {
            byteCount = try Self.copy(source, to: copy, name: name)
        } catch {
            close(copy)
            throw error
        }
        descriptor = copy
    }

    deinit { close(descriptor) }

    /// Visits every line that is not blank, from the first on.
    ///
    /// - Parameter longest: more bytes of a line than this are counted and not kept.
    public func forEachLine(longest: Int, _ body: (TextLine) throws(ToolFailure) -> Void) throws(ToolFailure) {
        var line = TextLine(number: 1, bytes: [], byteCount: 0)
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        var position: off_t = 0
        while position < byteCount {
            let wanted = min(Self.chunkBytes, Int(byteCount - position))
            let count = pread(descriptor, &chunk, wanted, position)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw count == 0 ? ToolFailure("the file was cut off while it was read") : Self.failure("cannot read")
            }
            position += off_t(count)
            var start = 0
            while let end = chunk[start..<count].firstIndex(of: UInt8(ascii: "\n")) {
                line.append(chunk[start..<end], longest: longest)
                try line.hand(to: body)
                start = end + 1
            }
            line.append(chunk[start..<count], longest: longest)
        }
        if line.byteCount > 0 { try line.hand(to: body) }
    }

    private static func anonymousFile(in directory: String) throws(ToolFailure) -> Int32 {
        var path = Array("\(directory)/herald-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw failure("cannot make a file in \(directory)") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(path)
        return descriptor
    }

    private static func copy(_ source: Int32, to target: Int32, name: String) throws(ToolFailure) -> off_t {
        var chunk = [UInt8](repeating: 0, count: chunkBytes)
        var total: off_t = 0
        while true {
            let count = read(source, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("cannot read \(name)") }
            if count == 0 { return total }
            var rest = chunk[..<count]
            while !rest.isEmpty {
                let written = rest.withUnsafeBytes { write(target, $0.baseAddress, $0.count) }
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { throw failure("cannot keep a copy of \(name)") }
                rest = rest.dropFirst(written)
            }
            total += off_t(count)
        }
    }

    private static func failure(_ what: String) -> ToolFailure {
        ToolFailure("\(what): \(String(cString: strerror(errno)))")
    }
}

extension TextLine {
    fileprivate mutating func append(_ piece: ArraySlice<UInt8>, longest: Int) {
        byteCount += piece.count
        bytes += piece.prefix(max(0, longest - bytes.count))
    }

    /// Hands the line over, unless it is blank, and begins the next one.
    fileprivate mutating func hand(to body: (TextLine) throws(ToolFailure) -> Void) throws(ToolFailure) {
        if bytes.count == byteCount, bytes.last == UInt8(ascii: "\r") {
            bytes.removeLast()
            byteCount -= 1
        }
        if bytes.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) { try body(self) }
        number += 1
        bytes.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}
