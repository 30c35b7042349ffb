internal import Foundation

/// A proxy and Herald's credentials for it; printed, logged or reflected it shows no password.
public struct ProxyAddress: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The proxy as libcurl names them (`http://proxy:3128`, `socks5h://…`), without user and password.
    public let url: String
    /// The user (Basic authentication); `nil` without one.
    public let username: String?
    private let password: String?

    /// Parses `http://user:password@proxy:3128`; user and password are percent-decoded.
    ///
    /// - Parameter password: replaces the one in the text, as it is.
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

    /// The address with user and password, for libcurl.
    ///
    /// Some versions decode its separate options for them, and others take them literally.
    var urlWithUser: String {
        guard let username, let schemeEnd = url.range(of: "://")?.upperBound else { return url }
        let plain = CharacterSet(charactersIn: "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        let user = [username, password ?? ""].compactMap { $0.addingPercentEncoding(withAllowedCharacters: plain) }
        return "\(url[..<schemeEnd])\(user.joined(separator: ":"))@\(url[schemeEnd...])"
    }

    /// A line of libcurl without the users and passwords of its addresses.
    static func withoutUser(_ line: String) -> String {
        guard let scheme = line.range(of: "://"), let at = line[scheme.upperBound...].lastIndex(of: "@") else {
            return line
        }
        return String(line[..<scheme.upperBound] + line[line.index(after: at)...])
    }

    /// The address alone.
    public var description: String { url }
    /// The address alone.
    public var debugDescription: String { url }
    /// Nothing inside.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
