/// Operations on a hub's registrations: for the tutorial's backend, and for services that share the hub with others.
///
/// Blocks; every step may be repeated without harm.
package struct HubRegistrations: Sendable {
    private let client: HubClient

    /// The registrations of one hub.
    package init(_ client: HubClient) {
        self.client = client
    }

    /// The id of the first registration of the handle, whose others are deleted, or a new one: the tutorial's way, for
    /// a hub without other registering services.
    ///
    /// - Parameter handle: `nil` asks for a new one.
    package func id(forHandle handle: String?) -> HubResult<String> {
        guard let handle else { return client.makeRegistrationID() }
        switch client.registrations(ofHandle: handle) {
        case .failure(let failure): return .failure(failure)
        case .success(let registrations):
            return firstOrNew(of: registrations)
        }
    }

    /// The first id of these, whose others are deleted, or a new one.
    private func firstOrNew(of doubles: [HubRegistration]) -> HubResult<String> {
        let ids = doubles.compactMap(\.id)
        guard let first = ids.first else { return client.makeRegistrationID() }
        for other in ids.dropFirst() {
            if case .failure(let failure) = delete(other) { return .failure(failure) }
        }
        return .success(first)
    }

    /// An id for a device of one user, on a hub that others may register devices with too.
    package struct OwnID: Sendable, Equatable {
        /// The registration to write: the first of the user's own, or a new one.
        package var id: String
        /// The registrations of the handle that belong to others, and stay as they are.
        package var others: [HubRegistration]
    }

    /// The id of the first registration of a handle that is the user's own, whose doubles are deleted, or a new one.
    ///
    /// A user's own registrations have the user's tag, are no templates, and belong to no installation.
    ///
    /// - Parameter tag: the user's own tag.
    package func id(forHandle handle: String, tag: String) -> HubResult<OwnID> {
        switch client.registrations(ofHandle: handle) {
        case .failure(let failure): return .failure(failure)
        case .success(let registrations):
            let isOwn = { (registration: HubRegistration) in registration.isNative && registration.tags.contains(tag) }
            switch firstOrNew(of: registrations.filter(isOwn)) {
            case .failure(let failure): return .failure(failure)
            case .success(let id): return .success(OwnID(id: id, others: registrations.filter { !isOwn($0) }))
            }
        }
    }

    /// Puts a device at an id, replacing any other; `gone` when the id is not valid any more.
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
