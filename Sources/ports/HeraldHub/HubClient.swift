internal import Foundation
public import HeraldHTTP
public import HeraldText
public import HeraldTime

/// Single requests to a notification hub: registrations, telemetry, probes; not the worker's sends.
///
/// Each makes a connection of its own and blocks.
public struct HubClient: Sendable {
    /// The `api-version` of requests: that of Microsoft's own current SDKs.
    public static let apiVersion = "2020-06"
    /// So long a token is good for (azure-notificationhubs-java).
    package static let tokenLifetimeSeconds: Int64 = 3_600

    /// Our credentials.
    public let connectionString: HubConnectionString
    /// The hub's name.
    public let hub: String
    private let timeout: Milliseconds
    private let proxy: ProxyAddress?
    private let tls: TLSFiles
    private let versions: HTTPVersions
    /// The repetition of requests that may be repeated.
    package var patience = RequestPatience()
    /// Waits for this many milliseconds before a request is repeated; blocks.
    package var pause: @Sendable (Milliseconds) -> Void = { Thread.sleep(forTimeInterval: $0.inSeconds) }

    /// A client of one hub.
    ///
    /// - Parameters:
    ///   - hub: checked with ``check(hub:)`` before.
    ///   - timeout: the longest time of one request, the connection included.
    ///   - versions: the allowed versions of HTTP; HTTP/2 is never demanded.
    public init(
        _ connectionString: HubConnectionString, hub: String, timeout: Milliseconds = .seconds(10),
        proxy: ProxyAddress? = nil, tls: TLSFiles = TLSFiles(), versions: HTTPVersions = .http1
    ) {
        self.connectionString = connectionString
        self.hub = hub
        self.timeout = timeout
        self.proxy = proxy
        self.tls = tls
        self.versions = versions.undemanding
    }

    /// Throws when the text cannot be a hub's name: 1 to 260 letters, digits, `.`, `_`, `-` (and `/` within).
    public static func check(hub: String) throws(InvalidArgument) {
        let isClean = hub.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || "._-/".contains($0) }
        guard (1...260).contains(hub.utf8.count), isClean, !hub.hasPrefix("/"), !hub.hasSuffix("/") else {
            throw InvalidArgument("the hub's name must be 1 to 260 letters, digits and . _ - /")
        }
    }

    /// Makes a request below the hub.
    ///
    /// - Parameters:
    ///   - path: the path after the hub's name, encoded, without a leading slash: `registrationids`.
    ///   - query: the query before the version, encoded: `$top=100`.
    ///   - headers: further headers.
    ///   - wantedHeaders: the headers of the answer that are kept.
    package func perform(
        _ method: SingleRequest.Method, _ path: String, query: [String] = [], headers: [SingleRequest.Header] = [],
        wantedHeaders: [String] = [], isCancelled: @escaping @Sendable () -> Bool = { false }
    ) -> SingleRequest.Outcome {
        let trackingID = TrackingID.random()
        let expiresAt = SystemClock.wall().milliseconds / 1_000 + Self.tokenLifetimeSeconds
        let parameters = (query + ["api-version=\(Self.apiVersion)"]).joined(separator: "&")
        let outcome = SingleRequest(
            method, url: "\(connectionString.origin)\(connectionString.basePath)/\(hub)/\(path)?\(parameters)",
            authorization: SharedAccessSignature(for: connectionString, expiresAt: expiresAt).authorization,
            headers: headers + [SingleRequest.Header(name: TrackingID.header, value: trackingID)],
            wantedHeaders: wantedHeaders, timeout: timeout, proxy: proxy, tls: tls,
            versions: versions
        ).perform(isCancelled: isCancelled)
        switch outcome {
        case .failure(let kind, let detail): return .failure(kind, detail: TrackingID.adding(trackingID, to: detail))
        case .response(var response):
            response.headers[TrackingID.header] = trackingID
            return .response(response)
        }
    }
}
