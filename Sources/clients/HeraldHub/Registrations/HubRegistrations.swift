/// What the tutorial's backend does with a hub's registrations.
///
/// Blocks; every step may be repeated without harm.
package struct HubRegistrations: Sendable {
    private let client: HubClient

    /// The registrations of one hub.
    package init(_ client: HubClient) {
        self.client = client
    }

    /// The id of the first registration that has the handle, whose others are deleted, or a new one.
    ///
    /// - Parameter handle: `nil` asks for a new one.
    package func id(forHandle handle: String?) -> HubResult<String> {
        guard let handle else { return client.makeRegistrationID() }
        switch client.registrations(ofHandle: handle) {
        case .failure(let failure): return .failure(failure)
        case .success(let registrations):
            let ids = registrations.compactMap(\.id)
            guard let first = ids.first else { return client.makeRegistrationID() }
            for other in ids.dropFirst() {
                if case .failure(let failure) = delete(other) { return .failure(failure) }
            }
            return .success(first)
        }
    }

    /// Puts a device at an id, whatever is there; `gone` when the id is none any more.
    package func put(_ registration: HubRegistration, at id: String) -> HubResult<Void> {
        client.put(registration, at: id)
    }

    /// Deletes a registration; one that is gone already is deleted.
    package func delete(_ id: String) -> HubResult<Void> {
        switch client.deleteRegistration(id) {
        case .failure(.notFound), .failure(.gone): .success(())
        case let result: result
        }
    }
}
