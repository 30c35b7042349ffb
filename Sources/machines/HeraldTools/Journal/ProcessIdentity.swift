internal import Glibc

/// A process as other processes of the same machine can tell it from all others, also when its number is used again.
package struct ProcessIdentity: Codable, Equatable, Sendable {
    /// The machine's run since it was switched on.
    package var boot: String
    /// The namespace in which the number counts.
    package var namespace: String
    package var id: Int32
    /// When it started, in the kernel's ticks.
    package var started: String

    /// The process of this number.
    package init(boot: String, namespace: String, id: Int32, started: String) {
        self.boot = boot
        self.namespace = namespace
        self.id = id
        self.started = started
    }

    package static let current = ProcessIdentity(
        boot: read("/proc/sys/kernel/random/boot_id").filter { !$0.isWhitespace },
        namespace: target(of: "/proc/self/ns/pid"), id: getpid(), started: start(of: getpid()) ?? "")

    /// Whether it has certainly ended; false when this process cannot know.
    package var hasEnded: Bool { isWithinSight && Self.start(of: id) != started }

    /// Whether it certainly has not ended; false when this process cannot know.
    package var isCertainlyAlive: Bool { isWithinSight && Self.start(of: id) == started }

    private var isWithinSight: Bool {
        !boot.isEmpty && !namespace.isEmpty && !started.isEmpty && boot == Self.current.boot
            && namespace == Self.current.namespace
    }

    /// The 22nd field of the process's `stat`; `nil` when there is no such process, or only what is left of it.
    private static func start(of id: Int32) -> String? {
        let text = read("/proc/\(id)/stat")
        // The name in parentheses may hold anything.
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 19, fields[0] != "Z", fields[0] != "X" else { return nil }
        return String(fields[19])
    }

    private static func read(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    private static func target(of link: String) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        let count = readlink(link, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The operator of this process, for leases and the audit.
package enum Operator {
    /// `user@host`; behind sudo the user who called it.
    package static func name(environment: [String: String]) -> String {
        let user = environment["SUDO_USER"] ?? accountName() ?? environment["USER"] ?? "uid-\(getuid())"
        return "\(user)@\(hostName())"
    }

    private static func accountName() -> String? {
        guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return nil }
        return String(cString: name)
    }

    package static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "unknown" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
