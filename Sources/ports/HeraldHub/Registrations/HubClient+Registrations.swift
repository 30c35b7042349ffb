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
        let outcome = performPatiently(
            .other("POST"), "registrationids", wantedHeaders: ["Location", "Content-Location"])
        switch outcome {
        case .failure(let kind, let detail): return .failure(.unanswered(kind, detail: detail))
        case .response(let response) where response.status == 200 || response.status == 201:
            // The documents say Content-Location, the service Location.
            guard let location = response.headers["Location"] ?? response.headers["Content-Location"],
                let id = HubAddress.id(in: location)
            else { return .failure(.unreadable(reason: "the answer names no registration id")) }
            return .success(id)
        case .response(let response): return .failure(HubFailure(response))
        }
    }

    /// Puts a registration at an id, replacing any other; `gone` when the id is not valid any more.
    package func put(_ registration: HubRegistration, at id: String) -> HubResult<Void> {
        done(
            performPatiently(
                .other("PUT", registration.entry, mediaType: HubRegistration.mediaType),
                "registrations/\(Self.encoded(id))"))
    }

    /// Deletes a registration in any version; `notFound` when it is gone already.
    package func deleteRegistration(_ id: String) -> HubResult<Void> {
        done(
            performPatiently(
                .other("DELETE"), "registrations/\(Self.encoded(id))",
                headers: [SingleRequest.Header(name: "If-Match", value: "*")]))
    }

    /// The registrations of a handle, for any push service, in the hub's order.
    package func registrations(ofHandle handle: String) -> HubResult<[HubRegistration]> {
        let quoted = HubDevice.compared(handle).replacingOccurrences(of: "'", with: "''")
        return list("registrations", filter: "$filter=" + Self.encoded("ChannelUri eq '\(quoted)'"))
    }

    /// The registrations that have a tag, in the hub's order.
    ///
    /// Needs the right Manage.
    package func registrations(ofTag tag: String) -> HubResult<[HubRegistration]> {
        list("tags/\(Self.encoded(tag))/registrations", filter: nil)
    }

    private func list(_ path: String, filter: String?) -> HubResult<[HubRegistration]> {
        var found: [HubRegistration] = []
        var token: String?
        for _ in 0..<Self.pageLimit {
            var query = ["$top=\(Self.pageSize)"]
            if let filter { query.append(filter) }
            if let token { query.append("continuationtoken=" + Self.encoded(token)) }
            switch performPatiently(.get, path, query: query, wantedHeaders: [Self.continuation]) {
            case .failure(let kind, let detail): return .failure(.unanswered(kind, detail: detail))
            case .response(let response) where response.status == 200:
                do {
                    found += try HubRegistration.list(feed: response.body)
                } catch {
                    return .failure(.unreadable(reason: error.description))
                }
                let next = response.headers[Self.continuation].map { $0.removingPercentEncoding ?? $0 }
                guard let next, !next.isEmpty, next != token else { return .success(found) }
                token = next
            case .response(let response): return .failure(HubFailure(response))
            }
        }
        return .failure(.unreadable(reason: "the list of registrations has no end"))
    }

    private func done(_ outcome: SingleRequest.Outcome) -> HubResult<Void> {
        switch outcome {
        case .failure(let kind, let detail): .failure(.unanswered(kind, detail: detail))
        case .response(let response) where (200..<300).contains(response.status): .success(())
        case .response(let response): .failure(HubFailure(response))
        }
    }

    /// Makes a request that may be repeated without harm, and repeats it by ``patience``.
    private func performPatiently(
        _ method: SingleRequest.Method, _ path: String, query: [String] = [], headers: [SingleRequest.Header] = [],
        wantedHeaders: [String] = []
    ) -> SingleRequest.Outcome {
        var repeats = 0
        while true {
            let outcome = perform(method, path, query: query, headers: headers, wantedHeaders: wantedHeaders)
            guard case .response(let response) = outcome,
                let wait = patience.wait(
                    after: response.status, retryAfter: response.retryAfter, repeats: repeats)
            else { return outcome }
            pause(wait)
            repeats += 1
        }
    }

    private static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        PercentEncoding.append(Array(text.utf8).span.bytes, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension SingleRequest.Response {
    /// The wait requested by the header `Retry-After`; `nil` without one.
    fileprivate var retryAfter: Milliseconds? {
        retryAfterSeconds > 0 ? .seconds(retryAfterSeconds) : nil
    }
}
