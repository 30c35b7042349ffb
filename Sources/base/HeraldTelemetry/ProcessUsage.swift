import Glibc

/// This process's use of the machine, according to /proc.
public struct ProcessUsage: Sendable, Equatable {
    /// Processor time of all threads, in seconds.
    public var processorSeconds: Double
    /// Memory in use (resident set), in bytes.
    public var residentBytes: Int
    /// Address space, in bytes.
    public var virtualBytes: Int
    /// Threads.
    public var threads: Int
    /// Its start, in seconds since the Unix epoch.
    public var startSeconds: Double
    /// Open file descriptors.
    public var openDescriptors: Int
    /// The limit of open file descriptors.
    public var maximumDescriptors: Int

    /// The current usage; `nil` without /proc.
    public static func current() -> ProcessUsage? {
        guard let stat = text(of: "/proc/self/stat"), let close = stat.lastIndex(of: ")") else { return nil }
        // The name in parentheses may hold anything; field 3 of proc(5) is the first after it.
        let fields = stat[close...].dropFirst().split(separator: " ")
        func field(_ number: Int) -> Double {
            fields.indices.contains(number - 3) ? Double(fields[number - 3]) ?? 0 : 0
        }
        let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        let pageBytes = Double(max(1, sysconf(Int32(_SC_PAGESIZE))))
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return ProcessUsage(
            processorSeconds: (field(14) + field(15)) / ticks, residentBytes: Int(field(24) * pageBytes),
            virtualBytes: Int(field(23)), threads: Int(field(20)), startSeconds: bootSeconds + field(22) / ticks,
            openDescriptors: openDescriptorCount(), maximumDescriptors: Int(clamping: limit.rlim_cur))
    }

    private static let bootSeconds: Double = {
        let line = text(of: "/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst("btime ".count)) } ?? 0
    }()

    private static func openDescriptorCount() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Excludes ".", ".." and the folder itself.
        return max(0, count - 3)
    }

    private static func text(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(file, &piece, piece.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
        }
    }
}
