/// Whether a broker's port speaks TLS, which no answer of Kafka's own protocol tells.
package enum ListenerSecurity: Sendable {
    case tls
    case plaintext

    /// Tries a handshake with each of these brokers; `nil` when none can be connected to.
    ///
    /// Blocks. A broker without TLS takes the handshake for a request that is too long, and closes the connection.
    package static func find(at bootstrapServers: [String]) -> Self? {
        find(at: bootstrapServers, TimeLeft(Examination.limit))
    }

    static func find(at bootstrapServers: [String], _ timeLeft: TimeLeft) -> Self? {
        let reachability = Reachability(timeLeft: timeLeft)
        let endpoints = bootstrapServers.map { Endpoint($0, standardPort: BrokerExaminer.standardPort) }
        let found = zip(endpoints, reachability.lookUp(endpoints)).compactMap { endpoint, lookUp in
            if case .addresses(let addresses) = lookUp { (host: endpoint.host, addresses: addresses) } else { nil }
        }
        let reached = zip(found, reachability.connect(found.map(\.addresses))).compactMap { target, connection in
            if case .connected = connection { target } else { nil }
        }
        guard !reached.isEmpty else { return nil }
        let speaksTLS = reachability.handshake(reached, trust: TLSHandshake.Trust()).contains { outcome in
            if case .certificate = outcome { true } else { false }
        }
        return speaksTLS ? .tls : .plaintext
    }
}
