internal import Foundation
internal import HeraldHTTP
internal import HeraldText

/// The backend's address, taken apart and checked.
package struct BackendAddress: Sendable, Hashable {
    let isEncrypted: Bool
    /// The host, without the brackets of an IPv6 address.
    let host: String
    /// Scheme, host and port, for the connection.
    package let origin: String
    /// Host and port as the `Host` header has them.
    package let authority: String
    /// What comes in front of every path, without a slash at its end; often empty.
    let basePath: String

    /// Takes the URL apart; throws with what is wrong with it.
    init(_ text: String) throws(InvalidArgument) {
        let isPrintable = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard isPrintable, let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https"
        else { throw InvalidArgument("the backend's URL must begin with http:// or https://") }
        guard parts.user == nil, parts.password == nil else {
            throw InvalidArgument("the backend's URL must not contain a user or password")
        }
        guard parts.query == nil, parts.fragment == nil else {
            throw InvalidArgument("the backend's URL must not contain a query or fragment")
        }
        guard let host = parts.percentEncodedHost, !host.isEmpty, !host.contains("%") else {
            throw InvalidArgument("the backend's URL has no host")
        }
        if let port = parts.port, !(1...65_535).contains(port) {
            throw InvalidArgument("the backend's port must be between 1 and 65535")
        }
        isEncrypted = scheme == "https"
        self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        authority = parts.port.map { "\(host):\($0)" } ?? host
        origin = "\(scheme)://\(authority)"
        var path = parts.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        basePath = path
    }

    var isLoopback: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || HTTPPeer(host)?.isLoopback ?? false
    }
}
