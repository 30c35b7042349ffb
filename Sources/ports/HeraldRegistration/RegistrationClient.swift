public import Foundation
public import HeraldDevices

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Registers an app's device with a backend of Herald's contract, over URLSession.
///
/// It needs Foundation alone, so that apps can use it. Requests follow no redirect and keep no cookie. Ids are remembered
/// by a ``RegistrationStore``; for an app that is a ``FileRegistrationStore`` in its folder for application support.
public final class RegistrationClient: Sendable {
    /// Where devices are registered, unless told otherwise.
    public static let defaultPath = "/api/register"

    private let transport: SessionTransport
    private let store: any RegistrationStore

    /// A client of the backend at this address.
    ///
    /// - Parameters:
    ///   - url: scheme, host, port and perhaps a path, such as `https://notify.example.org`; no user, query or fragment.
    ///   - path: where devices are registered, behind the URL's path.
    ///   - credentials: the app's user, as the backend knows them.
    ///   - store: where ids are remembered.
    ///   - timeout: how long a request may stand still, in seconds.
    ///   - configuration: of the session, for proxies and the like; its time-out, redirects and cookies are set here.
    /// - Throws: ``RegistrationError/invalid(reason:)`` when the URL cannot be one.
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

    /// Registers a device, or renews its registration: asks for an id unless one is remembered, and puts the device
    /// there.
    ///
    /// Call it at every start of the app and whenever the handle changes: it is what keeps the registration good. An id
    /// that the backend gave up (410) is forgotten, and a new one tried once.
    ///
    /// - Parameters:
    ///   - handle: what the push service calls the device; for APNs ``DeviceHandle/init(apnsToken:)``.
    ///   - tags: what the device can be reached by, besides the user's own tag, which the backend adds.
    ///   - installation: the app's name for the device; each has one remembered id per backend.
    /// - Returns: the registration's id.
    /// - Throws: ``RegistrationError``, `CancellationError`, or what the store throws.
    @discardableResult
    public func register(
        handle: DeviceHandle, platform: Platform, tags: [String] = [], installation: String = "default"
    ) async throws -> String {
        try await flow(installation).register(RegisteredDevice(handle: handle, platform: platform, tags: tags))
    }

    /// Removes the installation's registration from the backend and forgets its id.
    ///
    /// - Returns: false when no id is remembered, so that there is nothing to remove.
    /// - Throws: ``RegistrationError``, `CancellationError`, or what the store throws; then the id is still remembered.
    @discardableResult
    public func unregister(installation: String = "default") async throws -> Bool {
        try await flow(installation).unregister()
    }

    private func flow(_ installation: String) -> RegistrationFlow<BackendRegistrations<SessionTransport>> {
        RegistrationFlow(BackendRegistrations(transport), installation: installation, store: store)
    }
}
