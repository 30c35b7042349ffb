public import HeraldDevices
internal import HeraldEvents
public import HeraldHub
public import HeraldText
internal import HeraldThreads
internal import HeraldTime

/// Registers devices at a notification hub itself, without a backend between.
///
/// The tutorial's backend adds the user's own tag and looks for other registrations of the handle; here the client
/// does. It changes and deletes only registrations with the user's own tag: templates, installations and registrations
/// of other users stay. The connection string lets its holder register any device for any user: it is for services, not
/// for apps. A rule with Listen is enough.
public struct HubRegistrationClient: Sendable {
    private let service: HubService
    private let tag: HubTagTemplate

    /// A client of one hub; throws when the template is none.
    ///
    /// - Parameters:
    ///   - tag: the user's own tag, with `{user}` for the user: that which notifications are sent to.
    ///   - registersLegacyGCM: whether devices of the platform `gcm` are registered for Google's legacy interface, which
    ///     Google has shut down, instead of FCM v1.
    public init(
        _ client: HubClient, tag: String = "username:{user}", registersLegacyGCM: Bool = false
    ) throws(InvalidArgument) {
        self.init(client, tag: try HubTagTemplate(tag), registersLegacyGCM: registersLegacyGCM)
    }

    init(_ client: HubClient, tag: HubTagTemplate, registersLegacyGCM: Bool) {
        service = HubService(client: client, registersLegacyGCM: registersLegacyGCM)
        self.tag = tag
    }

    /// Registers a device of a user, or renews its registration.
    ///
    /// Unless an id is remembered, that of a native registration of the same handle with the user's own tag is used, whose
    /// doubles are deleted, or a new one. Other registrations of the handle stay. An id that the hub gave up (410) is
    /// forgotten, and a new one tried once.
    ///
    /// - Parameters:
    ///   - user: whose own tag the device gets.
    ///   - tags: what else the device can be reached by.
    ///   - installation: the caller's name for the device or program; each has one remembered id per hub.
    ///   - others: gets the other registrations of the handle, when it was looked for and there are some.
    /// - Returns: the registration's id.
    /// - Throws: ``BackendClientError``, `InvalidArgument`, `CancellationError`, or what the store throws.
    @discardableResult
    public func register(
        handle: DeviceHandle, platform: Platform, user: String, tags: [String] = [], installation: String = "default",
        store: any RegistrationStore, others: @escaping @Sendable ([OtherRegistration]) -> Void = { _ in }
    ) async throws -> String {
        let own = tag.tag(of: user)
        let tags = tags + [own]
        // Nothing is asked for, or remembered, for what the hub would refuse.
        guard !user.isEmpty else { throw InvalidArgument("the user must not be empty") }
        let device = RegisteredDevice(handle: handle, platform: platform, tags: tags)
        _ = try service.registration(of: device)
        var service = service
        (service.tag, service.tellOthers) = (own, others)
        return try await RegistrationFlow(service, installation: installation, store: store).register(device)
    }

    /// Deletes the installation's registration from the hub and forgets its id.
    ///
    /// - Returns: false when no id is remembered, so that there is nothing to remove.
    @discardableResult
    public func unregister(installation: String = "default", store: any RegistrationStore) async throws -> Bool {
        try await RegistrationFlow(service, installation: installation, store: store).unregister()
    }

    /// By what the hub's registrations are remembered.
    var address: String { service.address }
}

/// A registration of the same handle that is not the user's own, and stays as it is.
public struct OtherRegistration: Sendable, Equatable {
    /// The hub's name for it.
    public var id: String
    /// The tags that reach it.
    public var tags: [String]
    /// Whether it is neither a template nor an installation's.
    public var isNative: Bool
}

/// A hub's registrations for ``RegistrationFlow``, each step on a thread of its own, because it blocks.
private struct HubService: RegistrationService {
    private static let putting = "putting the registration"

    let client: HubClient
    let registersLegacyGCM: Bool
    /// The user's own, for an id that is looked for.
    var tag = ""
    var tellOthers: @Sendable ([OtherRegistration]) -> Void = { _ in }

    var address: String { "\(client.connectionString.origin)\(client.connectionString.basePath)/\(client.hub)" }

    func makeID(for handle: DeviceHandle) async throws -> String {
        switch try await run({ [tag] in $0.id(forHandle: handle.text, tag: tag) }) {
        case .success(let own):
            if !own.others.isEmpty {
                tellOthers(
                    own.others.map { OtherRegistration(id: $0.id ?? "", tags: $0.tags, isNative: $0.isNative) })
            }
            return own.id
        case .failure(let failure): throw Self.error("asking for a registration", failure)
        }
    }

    /// The registration to write; throws when the hub would refuse it.
    func registration(of device: RegisteredDevice) throws(InvalidArgument) -> HubRegistration {
        let handle = device.handle.text
        let address: HubDevice =
            switch device.platform {
            case .wns: .windows(channel: handle)
            case .apns: .apple(token: handle)
            case .gcm: registersLegacyGCM ? .gcm(token: handle) : .fcmV1(token: handle)
            }
        return try HubRegistration(address, tags: device.tags)
    }

    func put(_ device: RegisteredDevice, at id: String) async throws -> Bool {
        let registration = try registration(of: device)
        switch try await run({ $0.put(registration, at: id) }) {
        case .success: return true
        case .failure(.gone): return false
        case .failure(let failure): throw Self.error(Self.putting, failure)
        }
    }

    func remove(_ id: String) async throws {
        if case .failure(let failure) = try await run({ $0.forget(id) }) {
            throw Self.error("removing the registration", failure)
        }
    }

    func goneAtOnce() -> any Error {
        Self.error(Self.putting, .gone(detail: "the hub gave the new id up at once"))
    }

    private func run<Value: Sendable>(
        _ request: @escaping @Sendable (HubClient) -> HubResult<Value>
    ) async throws -> HubResult<Value> {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { [client] waiter in
            do {
                _ = try OwnThread(name: "hub-request") { waiter.resume(returning: request(client)) }
            } catch {
                waiter.resume(throwing: error)
            }
        }
    }

    private static func error(_ request: String, _ failure: HubFailure) -> BackendClientError {
        let detail = failure.detail.flatMap { OneLine.text($0) }
        let answer: CallResult
        switch failure {
        case .notFound, .gone, .preconditionFailed: answer = CallResult(status: failure.status ?? 0, detail: detail)
        case .refused(let status, let seconds, _):
            answer = CallResult(status: status, retryAfter: seconds > 0 ? .seconds(seconds) : nil, detail: detail)
        case .unanswered(let kind, _):
            answer = CallResult(failure: CallFailure(kind), detail: detail ?? "there is no answer")
        case .unreadable(let reason): return .unexpected(request: request, reason: reason)
        }
        return .refused(request: request, answer: answer)
    }
}
