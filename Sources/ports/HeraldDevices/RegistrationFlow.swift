/// A device as registered.
package struct RegisteredDevice: Sendable, Hashable {
    package let handle: DeviceHandle
    package let platform: Platform
    package let tags: [String]

    package init(handle: DeviceHandle, platform: Platform, tags: [String]) {
        self.handle = handle
        self.platform = platform
        self.tags = tags
    }
}

/// A place that registers devices: a backend, or a notification hub itself.
package protocol RegistrationService: Sendable {
    /// The address that keeps remembered ids apart from those of other services.
    var address: String { get }
    /// An id for a device with this handle: its current one, or a new one.
    func makeID(for handle: DeviceHandle) async throws -> String
    /// Puts the device at the id, replacing any other; false when the id is no longer valid.
    func put(_ device: RegisteredDevice, at id: String) async throws -> Bool
    /// Removes the registration; a missing one is no error.
    func remove(_ id: String) async throws
    /// The error for a new id that is already invalid.
    func goneAtOnce() -> any Error
}

/// An app's way of registering a device (the tutorial's RegisterClient), with any service.
package struct RegistrationFlow<Service: RegistrationService>: Sendable {
    private let service: Service
    private let store: any RegistrationStore
    private let key: RegistrationKey

    package init(_ service: Service, installation: String, store: any RegistrationStore) {
        self.service = service
        self.store = store
        key = RegistrationKey(backend: service.address, installation: installation)
    }

    /// Puts the device at the remembered id, or asks for a new one.
    ///
    /// An id that is no longer valid is forgotten, and a new one tried once.
    ///
    /// - Returns: The id.
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
