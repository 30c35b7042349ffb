internal import Foundation

/// A proxy and who Herald is to it; printed, logged or reflected it shows no password.
public struct ProxyAddress: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The proxy as libcurl names them (`http://proxy:3128`, `socks5h://…`), without user and password.
    public let url: String
    /// The user (Basic authentication); `nil` without one.
    public let username: String?
    let password: String?

    /// Takes `http://user:password@proxy:3128` apart; user and password are percent-decoded.
    ///
    /// - Parameter password: takes the place of the one in the text, as it is.
    public init(_ text: String, password: String? = nil) {
        let schemeEnd = text.range(of: "://")?.upperBound ?? text.startIndex
        guard let at = text[schemeEnd...].lastIndex(of: "@") else {
            url = String(text)
            username = nil
            self.password = nil
            return
        }
        url = String(text[..<schemeEnd] + text[text.index(after: at)...])
        let parts = text[schemeEnd..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.removingPercentEncoding ?? String($0) }
        username = parts.first
        self.password = password ?? (parts.count > 1 ? parts[1] : "")
    }

    /// The address alone.
    public var description: String { url }
    /// The address alone.
    public var debugDescription: String { url }
    /// Nothing inside.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
