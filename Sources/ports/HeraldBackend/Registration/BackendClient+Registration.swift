public import HeraldDevices
internal import HeraldEvents
internal import HeraldHTTP
internal import HeraldHub
internal import HeraldText
internal import HeraldTime

extension BackendClient {
    /// Registers a device, or renews its registration: asks for an id unless one is remembered, and puts the device
    /// there.
    ///
    /// An id that the backend gave up (410) is forgotten, and a new one tried once.
    ///
    /// - Parameters:
    ///   - user: whose device it is; only a hub is told, any other backend knows it by the credentials.
    ///   - tags: what the device can be reached by, besides the user's own tag, which is added.
    ///   - installation: the caller's name for the device or program; each has one remembered id per backend.
    ///   - others: gets what else a hub has of the handle, which stays as it is; see ``HubRegistrationClient``.
    /// - Returns: the registration's id.
    /// - Throws: ``BackendClientError``, `InvalidArgument`, `CancellationError`, or what the store throws.
    @discardableResult
    public func register(
        handle: DeviceHandle, platform: Platform, user: String? = nil, tags: [String] = [],
        installation: String = "default", store: any RegistrationStore,
        others: @escaping @Sendable ([OtherRegistration]) -> Void = { _ in }
    ) async throws -> String {
        if let registrar {
            guard let user else { throw InvalidArgument("a hub has to be told whose device it is: name the user") }
            return try await registrar.register(
                handle: handle, platform: platform, user: user, tags: tags, installation: installation, store: store,
                others: others)
        }
        guard user == nil else {
            throw InvalidArgument("the backend knows by the credentials whose device it is: name no user")
        }
        return try await flow(installation, store).register(
            RegisteredDevice(handle: handle, platform: platform, tags: tags))
    }

    /// Removes the installation's registration from the backend and forgets its id.
    ///
    /// - Returns: false when no id is remembered, so that there is nothing to remove.
    @discardableResult
    public func unregister(installation: String = "default", store: any RegistrationStore) async throws -> Bool {
        if let registrar { return try await registrar.unregister(installation: installation, store: store) }
        return try await flow(installation, store).unregister()
    }

    private func flow(
        _ installation: String, _ store: any RegistrationStore
    ) -> RegistrationFlow<BackendRegistrations<ClientTransport>> {
        RegistrationFlow(BackendRegistrations(ClientTransport(self)), installation: installation, store: store)
    }

    /// By what the registrations of this backend, or hub, are remembered.
    package var registrationAddress: String {
        registrar?.address ?? ClientTransport(self).address
    }

    private var registrar: HubRegistrationClient? { configuration.target.registrar(configuration) }
}

/// Requests for registrations over the client's own connections.
private struct ClientTransport: RegistrationTransport {
    private let client: BackendClient
    private let patience = RequestPatience()

    init(_ client: BackendClient) {
        self.client = client
    }

    var address: String { client.configuration.address.origin + client.configuration.registerPath }

    /// Registrations may be repeated without harm, and are when the backend says "later".
    func send(_ request: RegistrationRequest) async throws -> RegistrationReply {
        var repeats = 0
        while true {
            let reply = try await client.request(
                request.method, client.configuration.registerPath + request.target, json: request.json)
            let result = reply.result
            guard result.failure == nil else { throw refusal(of: request, result) }
            guard let wait = patience.wait(after: result.status, retryAfter: result.retryAfter, repeats: repeats) else {
                return RegistrationReply(status: result.status, detail: result.detail, body: reply.body)
            }
            try await Task.sleep(for: wait.duration)
            repeats += 1
        }
    }

    func refusal(of request: RegistrationRequest, _ reply: RegistrationReply) -> any Error {
        refusal(of: request, CallResult(status: reply.status, detail: reply.detail))
    }

    func mistake(in request: RegistrationRequest, _ reason: String) -> any Error {
        BackendClientError.unexpected(request: request.purpose, reason: reason)
    }

    private func refusal(of request: RegistrationRequest, _ answer: CallResult) -> BackendClientError {
        .refused(
            request: request.purpose,
            answer: request.secrets.reduce(answer) { $0.hiding($1.text, as: $1.name) })
    }
}
