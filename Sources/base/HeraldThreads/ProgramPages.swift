internal import CEpoll
internal import Glibc

/// The memory that the process holds of its program and libraries.
public enum ProgramPages {
    /// Releases code that only the start needed, and freed memory.
    ///
    /// Code is read from its file page by page, together with fifteen pages around each: some 25 MB after a start, of
    /// which later work touches only a part. Pages that are needed again come back at once from the file cache. Code is
    /// not writable, so nothing is lost.
    public static func release() {
        for range in codeRanges() {
            _ = madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
        _ = malloc_trim(0)
    }

    /// The mapped code of files, parsed from /proc: `begin-end r-xp offset device inode path`.
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
