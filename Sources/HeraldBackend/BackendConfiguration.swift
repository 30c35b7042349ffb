public import HeraldHTTP

/// A setting of the backend's client that cannot work.
public struct BackendConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong and what is allowed, in one line, without secrets.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Where the backend is and how it is called, checked.
public struct BackendConfiguration: Sendable {
    /// Where notifications are posted, unless told otherwise.
    public static let defaultPath = "/api/notifications"
    /// Where devices are registered, unless told otherwise.
    public static let defaultRegisterPath = "/api/register"

    /// Where notifications are posted, with what the URL's path puts in front.
    public let path: String
    /// Where devices are registered, with what the URL's path puts in front.
    public let registerPath: String
    /// How long one call may take, from waiting for a connection to the end of the answer.
    public let timeoutMilliseconds: Int
    /// Who Herald says it is.
    public let credentials: Credentials
    /// How many connections are open at most, and how they are made.
    public let connections: ConnectionOptions

    let address: BackendAddress

    /// Checks the settings; throws ``BackendConfigurationError`` with the first that cannot work.
    ///
    /// - Parameters:
    ///   - url: `http` or `https`, host, port and perhaps a path; no user, query or fragment.
    ///   - connectionLimit: at least 1.
    ///   - proxy: as libcurl names them; the environment's proxy is never used.
    public init(
        url: String, path: String = defaultPath, registerPath: String = defaultRegisterPath,
        timeout: Duration = .seconds(10), connectionLimit: Int = 64, proxy: String? = nil,
        tls: TLSFiles = TLSFiles(), credentials: Credentials
    ) throws(BackendConfigurationError) {
        address = try BackendAddress(url)
        self.path = try Self.fullPath(address, path)
        self.registerPath = try Self.fullPath(address, registerPath)
        let (seconds, attoseconds) = timeout.components
        guard seconds >= 0, seconds <= 86_400, timeout > .zero else {
            throw BackendConfigurationError("the backend's timeout must be more than 0 and at most a day")
        }
        timeoutMilliseconds = max(1, Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
        guard connectionLimit >= 1 else {
            throw BackendConfigurationError("the number of connections must be at least 1")
        }
        if let mistake = credentials.mistake { throw BackendConfigurationError(mistake) }
        self.credentials = credentials
        connections = ConnectionOptions(
            origin: address.origin, limit: connectionLimit, connectTimeoutMilliseconds: timeoutMilliseconds,
            proxy: proxy, tls: tls)
    }

    /// What the operator should know although it works; one line each.
    public var warnings: [String] {
        guard !address.isEncrypted, !address.isLoopback, credentials != .none else { return [] }
        return ["credentials go to \(address.host) unencrypted: use https:// in the backend's URL"]
    }

    private static func fullPath(
        _ address: BackendAddress, _ path: String
    ) throws(BackendConfigurationError) -> String {
        let isClean = path.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        guard path.hasPrefix("/"), isClean else {
            throw BackendConfigurationError(
                "a path of the backend must begin with '/' and hold only printable ASCII without '?' and '#'")
        }
        return address.basePath + path
    }
}
