internal import Glibc
import HeraldTime

/// Checks whether brokers accept connections; no data is sent, so the check is quick and needs no login.
enum BrokerConnection {
    private struct Attempt {
        let broker: Int
        let descriptor: Int32
    }

    /// The brokers that accept no connection within this time, in the given order.
    ///
    /// Blocks for at most this time, provided that names resolve at once.
    static func refusing(
        among brokers: [ClusterMetadata.Broker], within limit: Milliseconds
    ) -> [ClusterMetadata.Broker] {
        var connected: Set<Int> = []
        var open = brokers.enumerated().flatMap { index, broker in
            addresses(of: broker).compactMap { connect($0).map { Attempt(broker: index, descriptor: $0) } }
        }
        defer { for attempt in open { close(attempt.descriptor) } }
        let end = ContinuousClock.now + limit.duration
        while open.contains(where: { !connected.contains($0.broker) }) {
            let left = Milliseconds(end - .now)
            guard left > .zero else { break }
            var states = open.map { pollfd(fd: $0.descriptor, events: Int16(POLLOUT), revents: 0) }
            guard poll(&states, nfds_t(states.count), Int32(clamping: left)) > 0 else { break }
            for (attempt, state) in zip(open, states) where state.revents != 0 {
                if error(of: attempt.descriptor) == 0 { connected.insert(attempt.broker) }
            }
            let ended = Set(states.filter { $0.revents != 0 }.map(\.fd))
            for attempt in open where ended.contains(attempt.descriptor) { close(attempt.descriptor) }
            open.removeAll { ended.contains($0.descriptor) }
        }
        return brokers.enumerated().filter { !connected.contains($0.offset) }.map(\.element)
    }

    private static func error(of descriptor: Int32) -> Int32 {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno
    }

    /// A connecting socket; `nil` when connecting fails at once.
    private static func connect(_ address: [UInt8]) -> Int32? {
        address.withUnsafeBytes { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            guard let pointer else { return nil }
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let descriptor = socket(Int32(pointer.pointee.sa_family), kind, 0)
            guard descriptor >= 0 else { return nil }
            if Glibc.connect(descriptor, pointer, socklen_t(bytes.count)) == 0 || errno == EINPROGRESS {
                return descriptor
            }
            close(descriptor)
            return nil
        }
    }

    static func addresses(of broker: ClusterMetadata.Broker) -> [[UInt8]] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(broker.host, String(broker.port), &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [[UInt8]] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ai_next
            guard let address = entry.pointee.ai_addr else { continue }
            found.append(Array(UnsafeRawBufferPointer(start: address, count: Int(entry.pointee.ai_addrlen))))
        }
        return found
    }
}
