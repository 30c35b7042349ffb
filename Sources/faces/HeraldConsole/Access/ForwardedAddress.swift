internal import HeraldHTTP

/// The client of a request that came through proxies.
struct ForwardedAddress: Sendable {
    private let proxies: [HTTPNetwork]

    /// - Parameter proxies: the proxies whose `X-Forwarded-For` is trusted.
    init(proxies: [HTTPNetwork]) { self.proxies = proxies }

    /// The last address that is not a trusted proxy's: the client may have forged the ones before it.
    func client(of request: HTTPRequest) -> HTTPPeer {
        var client = request.peer
        let fields = request.headers.fields.filter { $0.name.lowercased() == "x-forwarded-for" }
        for entry in fields.flatMap({ $0.value.split(separator: ",") }).reversed() {
            guard proxies.contains(where: { $0.contains(client) }) else { return client }
            guard let next = HTTPPeer(String(entry.filter { $0 != " " && $0 != "\t" })) else { return client }
            client = next
        }
        return client
    }
}
