internal import Glibc
internal import HeraldThreads
import HeraldTime

/// Where the brokers of a cluster are, as it said last, for all clients of this process that begin at the same addresses:
/// who goes where one of them was before, comes to where it is now.
///
/// When all brokers move, and keep their numbers, librdkafka does not find all of them again. Up to 2.9 it asks the
/// addresses of `bootstrap.servers` again, but the connection to a coordinator keeps the address that it was made with as
/// long as the coordinator is the broker of the same number (seen with 2.0.2). From 2.10 on it asks them again only with
/// `metadata.recovery.strategy: rebootstrap`, and with that may forget the coordinator of a transaction for good (seen
/// with 2.16). A new client would find them, but would lose what is in its transaction, and its place in the group.
final class BrokerDirectory: Sendable {
    private struct State {
        var addresses: [Int32: ClusterMetadata.Broker] = [:]
        /// Which broker was where, by what librdkafka calls the place; not where a broker is now.
        var former: [String: Int32] = [:]
        /// Those that have moved and were not taken yet.
        var moved: [Int32: ClusterMetadata.Broker] = [:]
        /// Since when questions fail and none is answered.
        var silentSince: ContinuousClock.Instant?
        var nextLook = ContinuousClock.now
    }

    /// By then each broker has been tried several times where it was: an ordinary outage is over for most.
    private static let patience = Duration.seconds(10)
    private static let pause = Duration.seconds(5)
    private static let lookTimeout: Milliseconds = .seconds(2)

    private static let all = Guarded<[String: BrokerDirectory]>([:])

    private let state = Guarded(State())

    /// The one of the clients that begin at the same addresses.
    static func of(_ properties: ClientProperties) -> BrokerDirectory? {
        guard let servers = properties["bootstrap.servers"] ?? properties["metadata.broker.list"] else { return nil }
        return all.withLock { all in
            if let known = all[servers] { return known }
            let made = BrokerDirectory()
            all[servers] = made
            return made
        }
    }

    /// Notes where the brokers are.
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

    /// The brokers that have moved since the last call, by their numbers.
    func takeMoved() -> [ClusterMetadata.Broker] {
        state.withLock { state in
            defer { state.moved = [:] }
            return state.moved.values.sorted { $0.id < $1.id }
        }
    }

    /// Notes that a question was not answered; after a while the addresses of the settings are asked by a client that
    /// knows nothing else, which may find the brokers elsewhere.
    ///
    /// Blocks for up to 2 s then.
    func noteSilence(_ properties: ClientProperties) {
        let now = ContinuousClock.now
        let mustLook = state.withLock { state in
            let since = state.silentSince ?? now
            state.silentSince = since
            guard now - since >= Self.patience, now >= state.nextLook else { return false }
            // Not from within that look, too.
            state.nextLook = now + Self.pause
            return true
        }
        guard mustLook else { return }
        // What it is told it notes here.
        let newcomer = try? Admin(properties: properties.without(["statistics.interval.ms"]).unnoted)
        _ = try? newcomer?.metadata(topics: [], timeout: Self.lookTimeout)
    }

    /// Connects a socket to this address, or to where the broker is now that was there; 0 or an error number.
    ///
    /// - Parameter place: what librdkafka calls it, `host:port`.
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
    /// What librdkafka calls where it is.
    fileprivate var place: String { "\(host):\(port)" }
}
