internal import HeraldThreads

/// Notices when any of some files becomes another one: by its place on the disk, size and time of change.
struct WatchedFiles {
    private let paths: [String]
    private var marks: [FileMark?]

    /// The files as they are now; one that is missing is a change once it is there.
    init(_ paths: [String]) {
        self.paths = paths
        marks = paths.map { try? Self.mark(of: $0) }
    }

    var isEmpty: Bool { paths.isEmpty }

    /// Whether any file has changed since the last look; throws, and notes nothing, when one can't be looked at.
    ///
    /// The error names the file in place of a call.
    mutating func haveChanged() throws(SystemError) -> Bool {
        var now: [FileMark?] = []
        for path in paths { now.append(try Self.mark(of: path)) }
        defer { marks = now }
        return marks != now
    }

    private static func mark(of path: String) throws(SystemError) -> FileMark {
        do throws(SystemError) {
            return try FileMark(of: path)
        } catch {
            throw SystemError(call: path, number: error.number)
        }
    }
}
