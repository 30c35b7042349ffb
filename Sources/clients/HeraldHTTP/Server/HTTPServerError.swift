import Glibc

/// Why a server could not start.
public struct HTTPServerError: Error, Equatable, CustomStringConvertible {
    /// The address that was wanted, as `host:port`.
    public var address: String
    /// The step that failed.
    public var step: String
    /// The `errno` value, 0 when there is none.
    public var code: Int32

    /// Whether another program listens on the address already.
    public var isAddressInUse: Bool { code == EADDRINUSE }

    /// What happened, in one line.
    public var description: String {
        "cannot listen on \(address): \(step)" + (code == 0 ? "" : ": \(String(cString: strerror(code)))")
    }
}
