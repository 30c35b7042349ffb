internal import Glibc

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
