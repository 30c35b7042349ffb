internal import Glibc

/// A failed system call, and the reason.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call's name, or the purpose of several calls.
    public let call: String
    /// The system's error number (errno); 0 without one.
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
