internal import Glibc
internal import HeraldThreads

/// Finds hosts, connects to them and looks at their certificates, many side by side.
struct Reachability {
    private static let lookUpMilliseconds = 4_000
    private static let connectMilliseconds = 3_000
    private static let handshakeMilliseconds = 4_000
    /// So many addresses of a name are tried at most.
    private static let addressLimit = 4

    let timeLeft: TimeLeft

    enum Connection: Sendable, Equatable {
        case connected(address: String, milliseconds: Int)
        case failed(String)
    }

    func lookUp(_ endpoints: [Endpoint]) -> [SocketAddress.LookUp] {
        SideBySide.map(endpoints, milliseconds: timeLeft.milliseconds(atMost: Self.lookUpMilliseconds)) {
            SocketAddress.lookUp($0)
        }.map { $0 ?? .failed("the resolver gave no answer within \(Self.lookUpMilliseconds / 1_000) s") }
    }

    /// Connects to the first address of each that can be connected to.
    func connect(_ targets: [[SocketAddress]]) -> [Connection] {
        let milliseconds = timeLeft.milliseconds(atMost: Self.connectMilliseconds)
        return SideBySide.map(targets, milliseconds: milliseconds + Self.graceMilliseconds) { addresses in
            let begin = ContinuousClock.now
            switch Self.socket(to: addresses, milliseconds: milliseconds) {
            case .success(let (descriptor, address)):
                close(descriptor)
                return .connected(address: address, milliseconds: Int((.now - begin) / .milliseconds(1)))
            case .failure(let error): return .failed(Self.words(error))
            }
        }.map { $0 ?? .failed("no answer within \(milliseconds / 1_000) s") }
    }

    func handshake(
        _ targets: [(host: String, addresses: [SocketAddress])], trust: TLSHandshake.Trust
    ) -> [TLSHandshake.Outcome] {
        let milliseconds = timeLeft.milliseconds(atMost: Self.handshakeMilliseconds)
        return SideBySide.map(targets, milliseconds: milliseconds + Self.graceMilliseconds) { target in
            switch Self.socket(to: target.addresses, milliseconds: milliseconds) {
            case .success(let (descriptor, _)):
                defer { close(descriptor) }
                return TLSHandshake.perform(descriptor, host: target.host, trust: trust)
            case .failure(let error): return .failed(Self.words(error))
            }
        }.map { $0 ?? .failed("no answer in time") }
    }

    private static let graceMilliseconds = 200

    private static func socket(
        to addresses: [SocketAddress], milliseconds: Int
    ) -> Result<(Int32, address: String), SystemError> {
        let some = addresses.prefix(addressLimit)
        var last = SystemError(call: "connect", number: ENETUNREACH)
        for address in some {
            switch address.connect(milliseconds: max(1, milliseconds / max(1, some.count))) {
            case .success(let descriptor): return .success((descriptor, address.text))
            case .failure(let error): last = error
            }
        }
        return .failure(last)
    }

    private static func words(_ error: SystemError) -> String { SystemError.text(of: error.number).lowercased() }
}
