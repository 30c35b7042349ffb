internal import Glibc

/// A system call that failed, and why.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call's name.
    public let call: String
    /// The operating system's error number (errno).
    public let number: Int32

    /// The failure of `call` with this error number.
    public init(call: String, number: Int32) {
        self.call = call
        self.number = number
    }

    /// The call and the error in words.
    public var description: String {
        "\(call): \(Self.text(of: number))"
    }

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
