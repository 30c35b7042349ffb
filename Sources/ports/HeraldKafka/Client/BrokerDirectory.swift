internal import Glibc
internal import HeraldThreads
import HeraldTime

/// The current addresses of a cluster's brokers, shared by all clients of this process with the same bootstrap
/// addresses: a connection to a broker's former address is redirected to its current one.
///
/// When all brokers move and keep their numbers, librdkafka does not find all of them again. Up to 2.9 it resolves
/// `bootstrap.servers` again, but the connection to a coordinator keeps its original address while the coordinator is
/// the broker of the same number (seen with 2.0.2). From 2.10 on it resolves them again only with
/// `metadata.recovery.strategy: rebootstrap`, and may then lose a transaction's coordinator for good (seen with 2.16).
/// A new client would find the brokers, but would lose its transaction and its place in the group.
final class BrokerDirectory: Sendable {
    private struct State {
        var addresses: [Int32: ClusterMetadata.Broker] = [:]
        /// The broker that used to be at each place (librdkafka's name for an address), unless a broker is there now.
        var former: [String: Int32] = [:]
        /// The brokers that have moved and were not taken yet.
        var moved: [Int32: ClusterMetadata.Broker] = [:]
        /// The time since which every request has failed.
        var silentSince: ContinuousClock.Instant?
        var nextLook = ContinuousClock.now
    }

    /// By then each broker has been tried several times at its old address, and most ordinary outages are over.
    private static let patience = Duration.seconds(10)
    private static let pause = Duration.seconds(5)
    private static let lookTimeout: Milliseconds = .seconds(2)

    private static let all = Guarded<[String: BrokerDirectory]>([:])

    private let state = Guarded(State())

    /// The directory shared by clients with the same bootstrap addresses.
    static func of(_ properties: ClientProperties) -> BrokerDirectory? {
        guard let servers = properties["bootstrap.servers"] ?? properties["metadata.broker.list"] else { return nil }
        return all.withLock { all in
            if let known = all[servers] { return known }
            let made = BrokerDirectory()
            all[servers] = made
            return made
        }
    }

    func note(_ brokers: [ClusterMetadata.Broker]) {
        state.withLock { state in
            state.silentSince = nil
            for broker in brokers {
                if let before = state.addresses.updateValue(broker, forKey: broker.id), before != broker {
                    state.former[before.place] = broker.id
                    state.moved[broker.id] = broker
                }
            }
            for broker in brokers { state.former[broker.place] = nil }
        }
    }

    func takeMoved() -> [ClusterMetadata.Broker] {
        state.withLock { state in
            defer { state.moved = [:] }
            return state.moved.values.sorted { $0.id < $1.id }
        }
    }

    /// Notes a request that was not answered; after a while a fresh client asks the bootstrap addresses, because the
    /// brokers may have moved.
    ///
    /// Blocks for up to 2 s then.
    func noteSilence(_ properties: ClientProperties) {
        let now = ContinuousClock.now
        let mustLook = state.withLock { state in
            let since = state.silentSince ?? now
            state.silentSince = since
            guard now - since >= Self.patience, now >= state.nextLook else { return false }
            // Prevents that look from starting another one.
            state.nextLook = now + Self.pause
            return true
        }
        guard mustLook else { return }
        // The client notes the brokers that it finds in this directory.
        let newcomer = try? Admin(properties: properties.without(["statistics.interval.ms"]).unnoted)
        _ = try? newcomer?.metadata(topics: [], timeout: Self.lookTimeout)
    }

    /// Connects a socket to this address, or to the current one of the broker that was there; 0 or an error number.
    ///
    /// - Parameter place: librdkafka's name for the address, `host:port`.
    func connect(
        _ socket: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t, place: String
    ) -> Int32 {
        let broker = state.withLock { state in state.former[place].flatMap { state.addresses[$0] } }
        if let broker {
            let family = address.pointee.sa_family
            for bytes in BrokerConnection.addresses(of: broker) {
                let result = bytes.withUnsafeBytes { raw -> Int32? in
                    let found = raw.assumingMemoryBound(to: sockaddr.self).baseAddress
                    guard let found, found.pointee.sa_family == family else { return nil }
                    return Self.connect(socket, found, socklen_t(raw.count))
                }
                if let result { return result }
            }
        }
        return Self.connect(socket, address, size)
    }

    private static func connect(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
        Glibc.connect(socket, address, size) == 0 || errno == EINPROGRESS ? 0 : errno
    }
}

extension ClusterMetadata.Broker {
    /// librdkafka's name for the broker's address.
    fileprivate var place: String { "\(host):\(port)" }
}
