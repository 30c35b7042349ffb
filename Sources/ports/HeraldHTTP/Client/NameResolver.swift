internal import Glibc
internal import HeraldThreads

/// Looks up one name with the system's resolver, on a new thread each time: however slow it is, the loop continues.
///
/// It belongs to the loop's thread; the thread of a look-up shares only the answer and the wake-up with it.
final class NameResolver {
    enum Answer: Sendable, Equatable {
        /// The addresses, each once, as a URL writes them: IPv6 in brackets.
        case addresses([String])
        /// No address; `isGone` when the resolver is certain of it.
        case failed(isGone: Bool, reason: String)
    }

    private final class Shared: Sendable {
        let wakeup: Wakeup
        let answer = Guarded<Answer?>(nil)

        init() throws(SystemError) {
            wakeup = try Wakeup()
        }
    }

    typealias LookUp = @Sendable (String) -> Answer

    /// EAI_NODATA, which the header shows to some programs only: the name exists without an address.
    private static let noData: Int32 = -5

    private let host: String
    private let lookUp: LookUp
    private let shared: Shared
    private(set) var isBusy = false

    init(host: String, lookUp: @escaping LookUp) throws(SystemError) {
        self.host = host
        self.lookUp = lookUp
        shared = try Shared()
    }

    /// Becomes readable when the answer is there.
    var descriptor: Int32 { shared.wakeup.descriptor }

    /// Begins a look-up, unless one is under way.
    func start() throws(SystemError) {
        guard !isBusy else { return }
        _ = try OwnThread(name: "herald-resolver") { [shared, host, lookUp] in
            let answer = lookUp(host)
            shared.answer.withLock { $0 = answer }
            shared.wakeup.signal()
        }
        isBusy = true
    }

    func takeAnswer() -> Answer? {
        shared.wakeup.drain()
        let answer = shared.answer.withLock { answer in
            defer { answer = nil }
            return answer
        }
        if answer != nil { isBusy = false }
        return answer
    }

    /// The host as a URL writes it, when it is an address and no name.
    static func literal(_ host: String) -> String? {
        var buffer = in6_addr()
        if inet_pton(AF_INET, host, &buffer) == 1 { return host }
        return inet_pton(AF_INET6, host, &buffer) == 1 ? "[\(host)]" : nil
    }

    @Sendable
    static func lookUp(_ host: String) -> Answer {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        // No IPv6 addresses for a machine without IPv6.
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        guard code == 0 else {
            let reason = code == EAI_SYSTEM ? SystemError.text(of: errno) : String(cString: gai_strerror(code))
            return .failed(isGone: code == EAI_NONAME || code == noData, reason: reason)
        }
        defer { freeaddrinfo(list) }
        var addresses: [String] = []
        var next = list
        while let entry = next {
            if let text = text(of: entry.pointee), !addresses.contains(text) { addresses.append(text) }
            next = entry.pointee.ai_next
        }
        return addresses.isEmpty ? .failed(isGone: true, reason: "no address") : .addresses(addresses)
    }

    private static func text(of entry: addrinfo) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        let text = buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        return entry.ai_family == AF_INET6 ? "[\(text)]" : text
    }
}
