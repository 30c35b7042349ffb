internal import Dispatch
internal import Glibc
internal import HeraldThreads
import HeraldTime

/// Finds hosts, connects to them and looks at their certificates, many side by side.
struct Reachability {
    private static let lookUpTimeout = Milliseconds.seconds(4)
    private static let connectTimeout = Milliseconds.seconds(3)
    private static let handshakeTimeout = Milliseconds.seconds(4)
    /// So many addresses of a name are tried at most.
    private static let addressLimit = 4

    let timeLeft: TimeLeft

    enum Connection: Sendable, Equatable {
        case connected(address: String, after: Milliseconds)
        case failed(String)
    }

    func lookUp(_ endpoints: [Endpoint]) -> [SocketAddress.LookUp] {
        SideBySide.map(endpoints, within: timeLeft.step(atMost: Self.lookUpTimeout)) {
            SocketAddress.lookUp($0)
        }.map { $0 ?? .failed("the resolver gave no answer within \(Self.lookUpTimeout.wholeSeconds) s") }
    }

    /// Connects to the first address of each that can be connected to.
    func connect(_ targets: [[SocketAddress]]) -> [Connection] {
        let limit = timeLeft.step(atMost: Self.connectTimeout)
        return SideBySide.map(targets, within: limit + Self.grace) { addresses in
            let begin = ContinuousClock.now
            switch Self.socket(to: addresses, within: limit) {
            case .success(let (descriptor, address)):
                close(descriptor)
                return .connected(address: address, after: Milliseconds(.now - begin))
            case .failure(let error): return .failed(Self.words(error))
            }
        }.map { $0 ?? .failed("no answer within \(limit.wholeSeconds) s") }
    }

    func handshake(
        _ targets: [(host: String, addresses: [SocketAddress])], trust: TLSHandshake.Trust
    ) -> [TLSHandshake.Outcome] {
        let limit = timeLeft.step(atMost: Self.handshakeTimeout)
        return SideBySide.map(targets, within: limit + Self.grace) { target in
            switch Self.socket(to: target.addresses, within: limit) {
            case .success(let (descriptor, _)):
                defer { close(descriptor) }
                return TLSHandshake.perform(descriptor, host: target.host, trust: trust)
            case .failure(let error): return .failed(Self.words(error))
            }
        }.map { $0 ?? .failed("no answer in time") }
    }

    private static let grace = Milliseconds.milliseconds(200)

    private static func socket(
        to addresses: [SocketAddress], within limit: Milliseconds
    ) -> Result<(Int32, address: String), SystemError> {
        let some = addresses.prefix(addressLimit)
        var last = SystemError(call: "connect", number: ENETUNREACH)
        for address in some {
            switch address.connect(within: max(.milliseconds(1), limit / Int64(max(1, some.count)))) {
            case .success(let descriptor): return .success((descriptor, address.text))
            case .failure(let error): last = error
            }
        }
        return .failure(last)
    }

    private static func words(_ error: SystemError) -> String { SystemError.text(of: error.number).lowercased() }
}

/// The time that an examination may still take.
struct TimeLeft: Sendable {
    private let end: ContinuousClock.Instant

    init(_ limit: Duration) {
        end = .now + limit
    }

    /// The time for the next step: what it may take, but no more than there is left, and at least a millisecond.
    func step(atMost limit: Milliseconds) -> Milliseconds {
        max(.milliseconds(1), min(limit, Milliseconds(end - .now)))
    }

    var isOver: Bool { .now >= end }
}

/// Calls that block, each on a thread of its own, and waited for no longer than a given time.
enum SideBySide {
    /// What each call returned, in the items' order; `nil` for one that has not in time, which is left to itself.
    static func map<Item: Sendable, Result: Sendable>(
        _ items: [Item], within limit: Milliseconds, _ body: @escaping @Sendable (Item) -> Result
    ) -> [Result?] {
        let results = Guarded<[Result?]>(Array(repeating: nil, count: items.count))
        let all = DispatchGroup()
        for (index, item) in items.enumerated() {
            all.enter()
            let thread = try? OwnThread(name: "doctor") {
                let result = body(item)
                results.withLock { $0[index] = result }
                all.leave()
            }
            if thread == nil { all.leave() }
        }
        _ = all.wait(timeout: .now() + .milliseconds(Int(limit.count)))
        return results.withLock { $0 }
    }
}
