import Foundation
internal import Glibc
internal import HeraldHTTP
package import HeraldKafka

/// What a group's workers say of themselves at their admin ports.
package struct WorkerSurvey: Sendable {
    package enum State: Sendable, Equatable {
        case ready
        /// It does not, for these reasons, a sentence each.
        case notReady([String])
        /// Nobody answers there, or it is no worker.
        case silent(String)
    }

    package struct Worker: Sendable, Equatable {
        /// As `host:port`.
        package var address: String
        package var state: State

        package init(address: String, state: State) {
            self.address = address
            self.state = state
        }
    }

    /// So many are asked at most.
    static let limit = 16
    /// One of them may take so long.
    static let patienceMilliseconds = 1_000

    /// Where the admin ports are, as `host:port`: those that somebody named, or where members run, at the port of the
    /// settings.
    ///
    /// - Parameters:
    ///   - named: addresses that somebody gave.
    ///   - listen: host and port of `admin.listen`; `nil` when it is off. On loopback only this machine's workers can be asked.
    package static func addresses(
        of members: [GroupDescription.Member], named: [String]?, listen: (host: String, port: UInt16)?
    ) -> [String] {
        if let named { return named }
        guard let listen, listen.port != 0 else { return [] }
        // A broker writes `/10.0.0.7`.
        let hosts = Set(members.map { String($0.host.drop { $0 == "/" }) })
        if isLoopback(listen.host) {
            return hosts.contains { isLoopback($0) || ownAddresses.contains($0) }
                ? [text(listen.host, listen.port)] : []
        }
        return hosts.sorted().map { text($0, listen.port) }
    }

    /// Asks them, one after the other.
    ///
    /// Blocks.
    package static func ask(_ addresses: [String]) -> [Worker] {
        addresses.prefix(limit).map { Worker(address: $0, state: state(at: $0)) }
    }

    private static func state(at address: String) -> State {
        let request = SingleRequest(
            .get, url: "http://\(address)/readyz", authorization: nil, timeoutMilliseconds: patienceMilliseconds,
            proxy: nil,
            tls: TLSFiles())
        switch request.perform() {
        case .failure(_, let detail): return .silent(detail)
        case .response(let response):
            guard let page = try? JSONDecoder().decode(Page.self, from: Data(response.body)) else {
                return .silent("HTTP \(response.status), which is no worker's answer")
            }
            return page.ready ? .ready : .notReady(page.reasons.map(\.sentence))
        }
    }

    /// What `/readyz` answers, as far as it is of interest.
    private struct Page: Decodable {
        struct Reason: Decodable {
            var sentence: String
        }

        var ready: Bool
        var reasons: [Reason]
    }

    private static func text(_ host: String, _ port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private static func isLoopback(_ host: String) -> Bool { host.hasPrefix("127.") || host == "::1" }

    private static var ownAddresses: Set<String> {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var addresses: Set<String> = []
        var next = list
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let address = entry.pointee.ifa_addr else { continue }
            let isIPv4 = Int32(address.pointee.sa_family) == AF_INET
            guard isIPv4 || Int32(address.pointee.sa_family) == AF_INET6 else { continue }
            let size = isIPv4 ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
            var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let code = getnameinfo(address, socklen_t(size), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
            if code == 0 { addresses.insert(String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)) }
        }
        return addresses
    }
}

extension WorkerSurvey {
    /// Why what is published now will wait; `nil` when nothing is known that speaks against it.
    ///
    /// Blocks for a few seconds at most.
    package static func trouble(group: String, listen: (host: String, port: UInt16)?, admin: Admin) -> String? {
        // The embedded broker knows nothing of groups, and librdkafka 2.0 waits for its answer for ever.
        guard admin.clusterID(timeoutMilliseconds: 2 * patienceMilliseconds)?.hasPrefix("mockCluster") == false,
            let description = try? admin.describeGroup(group, timeoutMilliseconds: 2 * patienceMilliseconds)
        else { return nil }
        guard !description.members.isEmpty else {
            return "No worker runs in the group \(group): what is published waits until one does."
        }
        for worker in ask(addresses(of: description.members, named: nil, listen: listen)) {
            if case .notReady(let sentences) = worker.state {
                return "The worker at \(worker.address) does not deliver: \(sentences.joined(separator: " "))"
            }
        }
        return nil
    }
}
