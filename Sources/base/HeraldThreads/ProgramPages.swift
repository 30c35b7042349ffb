internal import CEpoll
internal import Glibc

/// The memory that the process holds of its program and libraries.
public enum ProgramPages {
    /// Lets go of code that only the start needed, and of memory that was freed.
    ///
    /// A program's code is read from its file page by page, and with each page fifteen more that lie around it: after a start
    /// some 25 MB, of which the work that follows touches a part. What is touched again comes back at once, from the
    /// machine's cache of the file. Code cannot be written, so nothing in it can be lost.
    public static func release() {
        for range in codeRanges() {
            _ = madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
        _ = malloc_trim(0)
    }

    /// Where code of files is mapped, as /proc tells it: `begin-end r-xp offset device inode path`.
    private static func codeRanges() -> [Range<UInt>] {
        guard let maps = fopen("/proc/self/maps", "re") else { return [] }
        defer { fclose(maps) }
        var line: UnsafeMutablePointer<CChar>?
        var size = 0
        defer { free(line) }
        var ranges: [Range<UInt>] = []
        while getline(&line, &size, maps) > 0, let line {
            let words = String(cString: line).split(separator: " ", omittingEmptySubsequences: true)
            guard words.count > 5, words[1] == "r-xp", words[5].hasPrefix("/") else { continue }
            let bounds = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            if bounds.count == 2 { ranges.append(bounds[0]..<bounds[1]) }
        }
        return ranges
    }
}
