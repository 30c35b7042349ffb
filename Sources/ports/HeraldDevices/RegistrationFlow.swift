/// A device, as it is registered.
package struct RegisteredDevice: Sendable, Hashable {
    package let handle: DeviceHandle
    package let platform: Platform
    /// What it can be reached by.
    package let tags: [String]

    package init(handle: DeviceHandle, platform: Platform, tags: [String]) {
        self.handle = handle
        self.platform = platform
        self.tags = tags
    }
}

/// Where devices are registered: a backend, or a notification hub itself.
package protocol RegistrationService: Sendable {
    /// By what remembered ids are told apart from those of other services.
    var address: String { get }
    /// An id for a device with this handle: the one that it has, or a new one.
    func makeID(for handle: DeviceHandle) async throws -> String
    /// Puts the device at the id, whatever is there; false when the id is none any more.
    func put(_ device: RegisteredDevice, at id: String) async throws -> Bool
    /// Removes the registration; what is gone already need not be removed.
    func remove(_ id: String) async throws
    /// What to throw when a new id is none any more at once.
    func goneAtOnce() -> any Error
}

/// How an app registers a device (the tutorial's RegisterClient), whatever it registers with.
package struct RegistrationFlow<Service: RegistrationService>: Sendable {
    private let service: Service
    private let store: any RegistrationStore
    private let key: RegistrationKey

    /// The flow of one installation.
    package init(_ service: Service, installation: String, store: any RegistrationStore) {
        self.service = service
        self.store = store
        key = RegistrationKey(backend: service.address, installation: installation)
    }

    /// Asks for an id unless one is remembered, and puts the device there.
    ///
    /// An id that is none any more is forgotten, and a new one tried once.
    ///
    /// - Returns: the id.
    package func register(_ device: RegisteredDevice) async throws -> String {
        if let known = try store.registrationID(for: key) {
            if try await service.put(device, at: known) { return known }
            try store.remember(nil, for: key)
        }
        let id = try await service.makeID(for: device.handle)
        try store.remember(id, for: key)
        if try await service.put(device, at: id) { return id }
        try store.remember(nil, for: key)
        throw service.goneAtOnce()
    }

    /// Removes the remembered registration and forgets its id; false when none is remembered.
    package func unregister() async throws -> Bool {
        guard let id = try store.registrationID(for: key) else { return false }
        try await service.remove(id)
        try store.remember(nil, for: key)
        return true
    }
}
