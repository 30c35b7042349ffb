internal import HeraldHTTP

/// Single sends, beside the worker's.
extension HubClient {
    /// Sends one notification to all devices that match the tags.
    ///
    /// Blocks. The hub has no idempotency: after no answer it may have it all the same.
    ///
    /// - Parameters:
    ///   - format: the value of `ServiceBusNotification-Format`.
    ///   - tags: a checked tag expression; without one, or with a wider one, the hub notifies others.
    ///   - isTest: has the hub send at once, to ten devices at most, and answer with what became of it.
    /// - Returns: the answer's body, which only a test has.
    package func send(
        _ body: [UInt8], as format: String, mediaType: String, headers: [(name: String, value: String)] = [],
        to tags: String, isTest: Bool = false
    ) -> HubResult<[UInt8]> {
        let own = [("ServiceBusNotification-Format", format), ("ServiceBusNotification-Tags", tags)]
        return HubResult(
            perform(
                .other("POST", body, mediaType: mediaType), "messages/", query: isTest ? ["test"] : [],
                headers: (own + headers).map { SingleRequest.Header(name: $0.0, value: $0.1) })
        ).map(\.body)
    }

    /// Asks whether the hub tells what became of a message: `nil` when it does, `notFound` when it would.
    ///
    /// Blocks.
    package func message(_ id: String) -> HubFailure? {
        if case .failure(let failure) = HubResult(perform(.get, "messages/\(id)")) { failure } else { nil }
    }
}
