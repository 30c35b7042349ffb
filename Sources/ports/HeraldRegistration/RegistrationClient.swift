public import Foundation
public import HeraldDevices

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Registers an app's device with a backend of Herald's contract, over URLSession.
///
/// It needs only Foundation, so that apps can use it. Requests follow no redirects and keep no cookies. A
/// ``RegistrationStore`` remembers ids; an app's is a ``FileRegistrationStore`` in its folder for application support.
public final class RegistrationClient: Sendable {
    /// The default path of registrations.
    public static let defaultPath = "/api/register"

    private let transport: SessionTransport
    private let store: any RegistrationStore

    /// A client of the backend at this address.
    ///
    /// - Parameters:
    ///   - url: Scheme, host, port and perhaps a path, such as `https://push.example.org`; no user, query, fragment.
    ///   - path: The path of registrations, appended to the URL's path.
    ///   - credentials: The app's user, as known to the backend.
    ///   - store: The store of ids.
    ///   - timeout: The time that a request may stand still, in seconds.
    ///   - configuration: The session's, for proxies and the like; its time-out, redirects and cookies are set here.
    /// - Throws: ``RegistrationError/invalid(reason:)`` for an unusable URL.
    public init(
        url: URL, path: String = RegistrationClient.defaultPath, credentials: RegistrationCredentials,
        store: any RegistrationStore, timeout: TimeInterval = 15,
        configuration: URLSessionConfiguration = .ephemeral
    ) throws(RegistrationError) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", parts.host?.isEmpty == false
        else { throw .invalid(reason: "the backend's URL must begin with http:// or https:// and have a host") }
        guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
            throw .invalid(reason: "the backend's URL must have no user, password, query or fragment")
        }
        guard path.hasPrefix("/"), !path.contains("?"), !path.contains("#") else {
            throw .invalid(reason: "the path of registrations must begin with '/' and hold no '?' and '#'")
        }
        var base = url.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        transport = SessionTransport(
            address: base + path, authorization: try credentials.authorization(), timeout: timeout,
            configuration: configuration)
        self.store = store
    }

    deinit {
        transport.close()
    }

    /// Registers a device, or renews its registration: puts it at the remembered id, or asks for a new one.
    ///
    /// Call it at every start of the app and whenever the handle changes, because that keeps the registration valid. An
    /// id that the backend gave up (410) is forgotten, and a new one tried once.
    ///
    /// - Parameters:
    ///   - handle: The push service's name for the device; for APNs ``DeviceHandle/init(apnsToken:)``.
    ///   - tags: The tags that reach the device, besides the user's own, which the backend adds.
    ///   - installation: The app's name for the device; each has one remembered id per backend.
    /// - Returns: The registration's id.
    /// - Throws: ``RegistrationError``, `CancellationError`, or the store's error.
    @discardableResult
    public func register(
        handle: DeviceHandle, platform: Platform, tags: [String] = [], installation: String = "default"
    ) async throws -> String {
        try await flow(installation).register(RegisteredDevice(handle: handle, platform: platform, tags: tags))
    }

    /// Removes the installation's registration from the backend and forgets its id.
    ///
    /// - Returns: False when no id is remembered, so that nothing was removed.
    /// - Throws: ``RegistrationError``, `CancellationError`, or the store's error; the id then stays remembered.
    @discardableResult
    public func unregister(installation: String = "default") async throws -> Bool {
        try await flow(installation).unregister()
    }

    private func flow(_ installation: String) -> RegistrationFlow<BackendRegistrations<SessionTransport>> {
        RegistrationFlow(BackendRegistrations(transport), installation: installation, store: store)
    }
}
