internal import HeraldHTTP

/// Whose request it is when proxies stand in between.
struct ForwardedAddress: Sendable {
    private let proxies: [HTTPNetwork]

    /// - Parameter proxies: those whose `X-Forwarded-For` is believed.
    init(proxies: [HTTPNetwork]) { self.proxies = proxies }

    /// The last address that no trusted proxy has: what stands before it, the client may have written itself.
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
