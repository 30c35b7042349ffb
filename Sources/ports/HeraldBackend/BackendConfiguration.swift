public import HeraldEvents
public import HeraldHTTP
public import HeraldText
public import HeraldTime

/// The backend's address and the options of its calls, checked.
public struct BackendConfiguration: Sendable {
    /// The default path of notifications.
    public static let defaultPath = "/api/notifications"
    /// The default path of device registrations.
    public static let defaultRegisterPath = "/api/register"

    /// The path of notifications, after the URL's own path.
    public let path: String
    /// The path of device registrations, after the URL's own path.
    public let registerPath: String
    /// The longest time of one call, from waiting for a connection to the end of the answer.
    public let timeout: Milliseconds
    /// Herald's credentials.
    public let credentials: Credentials
    /// The most open connections, and their options.
    public let connections: ConnectionOptions
    /// The meanings of statuses; for those that refuse credentials, renewable ones are renewed.
    public let statuses: StatusTable

    /// The rule for users.
    public let users: UserRule

    /// The kind of backend.
    public let target: any Target

    package let address: BackendAddress

    /// Checks the settings; throws ``InvalidArgument`` with the first that cannot work.
    ///
    /// - Parameters:
    ///   - target: the kind of backend.
    ///   - url: `http` or `https`, host, port and perhaps a path; no user, query or fragment.
    ///   - connectionLimit: at least 1.
    ///   - versions: which versions of HTTP may be spoken.
    ///   - connectTimeout: for making one connection, handshakes included; at most `timeout` counts.
    ///   - proxy: the environment's is never used.
    ///   - users: what the backend takes for a user; `text` only where it never makes a tag expression of one.
    public init(
        _ target: any Target = HTTPTarget(), url: String, path: String = defaultPath,
        registerPath: String = defaultRegisterPath,
        timeout: Duration = .seconds(10), connectTimeout: Duration = .seconds(5), connectionLimit: Int = 64,
        versions: HTTPVersions = .http1, proxy: ProxyAddress? = nil, tls: TLSFiles = TLSFiles(),
        credentials: Credentials, statuses: StatusTable = .usual, users: UserRule = .tag
    ) throws(InvalidArgument) {
        address = try BackendAddress(url)
        self.target = target
        self.users = users
        self.path = try Self.fullPath(address, path)
        self.registerPath = try Self.fullPath(address, registerPath)
        guard let whole = Self.limit(timeout), let connecting = Self.limit(connectTimeout) else {
            throw InvalidArgument("the backend's time-outs must be more than 0 and at most a day")
        }
        self.timeout = whole
        self.statuses = statuses
        guard connectionLimit >= 1 else {
            throw InvalidArgument("the number of connections must be at least 1")
        }
        if let mistake = credentials.mistake { throw InvalidArgument(mistake) }
        self.credentials = credentials
        connections = ConnectionOptions(
            origin: address.origin, limit: connectionLimit, connectTimeout: min(connecting, whole),
            proxy: proxy, tls: tls, keepsLocation: target.keepsMessageIDs, versions: versions)
    }

    /// Warnings for the operator about a working configuration; one line each.
    public var warnings: [String] {
        var lines: [String] = []
        if !address.isEncrypted, !address.isLoopback, credentials != .none {
            lines.append("credentials go to \(address.host) unencrypted: use https:// in the backend's URL")
        }
        if case .oauth2(let client) = credentials, client.isExposed {
            lines.append(
                "the client's secret goes to \(client.host) unencrypted: use https:// in the token endpoint's URL")
        }
        return lines
    }

    private static func limit(_ limit: Duration) -> Milliseconds? {
        guard limit > .zero, limit <= .seconds(86_400) else { return nil }
        return max(.milliseconds(1), Milliseconds(limit))
    }

    private static func fullPath(
        _ address: BackendAddress, _ path: String
    ) throws(InvalidArgument) -> String {
        let isClean = path.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        guard path.hasPrefix("/"), isClean else {
            throw InvalidArgument(
                "a path of the backend must begin with '/' and hold only printable ASCII without '?' and '#'")
        }
        return address.basePath + path
    }
}
