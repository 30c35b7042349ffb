internal import Glibc

/// A system call that failed, and why.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call's name, or what was wanted of the system.
    public let call: String
    /// The operating system's error number (errno); 0 when there is none.
    public let number: Int32

    /// The failure of `call` with this error number.
    public init(call: String, number: Int32) {
        self.call = call
        self.number = number
    }

    /// Whether another program listens on the address already.
    public var isAddressInUse: Bool { number == EADDRINUSE }

    /// The call and the error in words.
    public var description: String { number == 0 ? call : "\(call): \(Self.text(of: number))" }

    /// The operating system's words for an error number.
    public static func text(of number: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress, strerror_r(number, base, buffer.count) == 0 else {
                return "error \(number)"
            }
            return String(cString: base)
        }
    }
}
