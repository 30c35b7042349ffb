internal import Foundation
internal import HeraldBytes
internal import HeraldHTTP
internal import HeraldText
import HeraldTime

/// The registrations of a hub, one request each. All of them block, and are repeated when the hub says "later".
extension HubClient {
    /// The number of registrations requested at a time: a page of them fits the limit of an answer, however long the
    /// handles are.
    static let pageSize = 20
    private static let pageLimit = 5_000
    private static let continuation = "x-ms-continuationtoken"

    /// Asks for a registration id, which the hub remembers for a while.
    package func makeRegistrationID() -> HubResult<String> {
        ask(.other("POST"), "registrationids", wantedHeaders: ["Location", "Content-Location"]).flatMap { response in
            // The documents say Content-Location, the service Location.
            let location = response.headers["Location"] ?? response.headers["Content-Location"]
            guard let id = location.flatMap({ HubAddress.id(in: $0) }) else {
                return .failure(.unreadable(reason: "the answer names no registration id"))
            }
            return .success(id)
        }
    }

    /// Puts a registration at an id, replacing any other; `gone` when the id is not valid any more.
    package func put(_ registration: HubRegistration, at id: String) -> HubResult<Void> {
        ask(
            .other("PUT", registration.entry, mediaType: HubRegistration.mediaType),
            "registrations/\(PercentEncoding.encoded(id))"
        ).map { _ in }
    }

    /// Deletes a registration in any version; `notFound` when it is gone already.
    package func deleteRegistration(_ id: String) -> HubResult<Void> {
        ask(
            .other("DELETE"), "registrations/\(PercentEncoding.encoded(id))",
            headers: [SingleRequest.Header(name: "If-Match", value: "*")]
        ).map { _ in }
    }

    /// The registrations of a handle, for any push service, in the hub's order.
    package func registrations(ofHandle handle: String) -> HubResult<[HubRegistration]> {
        let quoted = HubDevice.compared(handle).replacing("'", with: "''")
        return list("registrations", filter: "$filter=" + PercentEncoding.encoded("ChannelUri eq '\(quoted)'"))
    }

    /// The registrations that have a tag, in the hub's order.
    ///
    /// Needs the right Manage.
    package func registrations(ofTag tag: String) -> HubResult<[HubRegistration]> {
        list("tags/\(PercentEncoding.encoded(tag))/registrations", filter: nil)
    }

    private func list(_ path: String, filter: String?) -> HubResult<[HubRegistration]> {
        var found: [HubRegistration] = []
        var token: String?
        for _ in 0..<Self.pageLimit {
            var query = ["$top=\(Self.pageSize)"]
            if let filter { query.append(filter) }
            if let token { query.append("continuationtoken=" + PercentEncoding.encoded(token)) }
            switch ask(.get, path, query: query, wantedHeaders: [Self.continuation]) {
            case .failure(let failure): return .failure(failure)
            case .success(let response):
                do {
                    found += try HubRegistration.list(feed: response.body)
                } catch {
                    return .failure(.unreadable(reason: error.description))
                }
                let next = response.headers[Self.continuation].map { $0.removingPercentEncoding ?? $0 }
                guard let next, !next.isEmpty, next != token else { return .success(found) }
                token = next
            }
        }
        return .failure(.unreadable(reason: "the list of registrations has no end"))
    }

    /// Makes a request that may be repeated without harm, and repeats it by ``patience``.
    private func ask(
        _ method: SingleRequest.Method, _ path: String, query: [String] = [], headers: [SingleRequest.Header] = [],
        wantedHeaders: [String] = []
    ) -> HubResult<SingleRequest.Response> {
        var repeats = 0
        while true {
            let outcome = perform(method, path, query: query, headers: headers, wantedHeaders: wantedHeaders)
            guard case .response(let response) = outcome,
                let wait = patience.wait(
                    after: response.status,
                    retryAfter: response.retryAfterSeconds > 0 ? .seconds(response.retryAfterSeconds) : nil,
                    repeats: repeats)
            else { return HubResult(outcome) }
            pause(wait)
            repeats += 1
        }
    }
}

/// What a device needs of a hub's registrations: for the tutorial's backend, and for services that share the hub.
///
/// Every step may be repeated without harm.
extension HubClient {
    /// The id of the first registration of the handle, whose others are deleted, or a new one: the tutorial's way, for
    /// a hub without other registering services.
    ///
    /// - Parameter handle: `nil` asks for a new one.
    package func id(forHandle handle: String?) -> HubResult<String> {
        guard let handle else { return makeRegistrationID() }
        return registrations(ofHandle: handle).flatMap { firstOrNew(of: $0) }
    }

    /// The first id of these, whose others are deleted, or a new one.
    private func firstOrNew(of doubles: [HubRegistration]) -> HubResult<String> {
        let ids = doubles.compactMap(\.id)
        guard let first = ids.first else { return makeRegistrationID() }
        for other in ids.dropFirst() {
            if case .failure(let failure) = forget(other) { return .failure(failure) }
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
        registrations(ofHandle: handle).flatMap { registrations in
            let isOwn = { (registration: HubRegistration) in registration.isNative && registration.tags.contains(tag) }
            return firstOrNew(of: registrations.filter(isOwn)).map { id in
                OwnID(id: id, others: registrations.filter { !isOwn($0) })
            }
        }
    }

    /// Deletes a registration; one that is gone already is deleted.
    package func forget(_ id: String) -> HubResult<Void> {
        switch deleteRegistration(id) {
        case .failure(.notFound), .failure(.gone): .success(())
        case let result: result
        }
    }
}
