import Foundation
internal import Glibc
internal import HeraldEvents
internal import HeraldHTTP
package import HeraldKafka
package import HeraldTime

/// What a group's workers say of themselves at their admin ports.
package struct WorkerSurvey: Sendable {
    package enum State: Sendable, Equatable {
        case ready
        /// It does not, for these reasons, a sentence each.
        case notReady([String])
        /// It is another group's.
        case elsewhere(group: String)
        /// No server answers there, or it is no worker.
        case silent(String)
    }

    package struct Worker: Sendable, Equatable {
        /// As `host:port`.
        package var address: String
        package var state: State
        /// What it warns of although it delivers, a sentence each.
        package var warnings: [String]
        /// Whether it is on its way into the group, and nothing else is known to keep it from delivering.
        package var isJoining: Bool

        package init(address: String, state: State, warnings: [String] = [], isJoining: Bool = false) {
            self.address = address
            self.state = state
            self.warnings = warnings
            self.isJoining = isJoining
        }
    }

    /// So many are asked at most.
    package static let limit = 16
    /// One of them may take so long.
    package static let patience = Milliseconds.seconds(1)

    /// Where the admin ports are, as `host:port`: those that were named, or where members run, at the port of the
    /// settings or, when it is a free one (port 0), at the one that a member carries in its `client.id`.
    ///
    /// - Parameters:
    ///   - named: addresses that an operator gave.
    ///   - listen: host and port of `admin.listen`; `nil` when it is off. On loopback only this machine's workers can be asked.
    package static func addresses(
        of members: [GroupDescription.Member], named: [String]?, listen: (host: String, port: UInt16)?
    ) -> [String] {
        if let named { return named }
        guard let listen else { return [] }
        let isLocal = HTTPServer.isLoopback(listen.host)
        let own = isLocal ? ownAddresses : []
        var addresses: Set<String> = []
        for member in members {
            // A broker writes `/10.0.0.7`.
            let host = String(member.host.drop { $0 == "/" })
            guard let port = listen.port != 0 ? listen.port : AdminPortName.port(in: member.clientID) else { continue }
            if !isLocal {
                addresses.insert(text(host, port))
            } else if HTTPServer.isLoopback(host) || own.contains(host) {
                addresses.insert(text(listen.host, port))
            }
        }
        return addresses.sorted()
    }

    /// Where a worker of this machine would answer that is no member, because its group does not let it in; `nil` when its
    /// port is any free one.
    package static func localAddress(listen: (host: String, port: UInt16)?) -> String? {
        guard let listen, listen.port != 0 else { return nil }
        return text(listen.host == "0.0.0.0" ? "127.0.0.1" : listen.host == "::" ? "::1" : listen.host, listen.port)
    }

    /// Whether a token goes there without being seen by others: no address that a member of the group claims to have,
    /// which anybody may who may join, but this machine's.
    package static func isOwn(_ address: String) -> Bool {
        guard let colon = address.lastIndex(of: ":") else { return false }
        let host = address[..<colon].filter { $0 != "[" && $0 != "]" }
        return HTTPPeer(host)?.isLoopback ?? false || ownAddresses.contains(host)
    }

    /// Asks them, one after the other, whether they deliver for this group.
    ///
    /// Blocks.
    package static func ask(_ addresses: [String], group: String) -> [Worker] {
        addresses.prefix(limit).map { worker(at: $0, group: group) }
    }

    private static func worker(at address: String, group: String) -> Worker {
        switch readiness(at: address) {
        case .success(let page):
            // What keeps another group's worker is none of this one's business.
            if let other = page.group?.name, other != group {
                return Worker(address: address, state: .elsewhere(group: other))
            }
            return Worker(
                address: address, state: page.ready ? .ready : .notReady(page.reasons.map(\.sentence)),
                warnings: (page.warnings ?? []).map(\.sentence), isJoining: page.isJoining)
        case .failure(let silence): return Worker(address: address, state: .silent(silence.reason))
        }
    }

    /// What one says of itself.
    ///
    /// Blocks for `timeout` at most, and takes no more of an answer than a worker's can have.
    package static func readiness(
        at address: String, timeout: Milliseconds = patience
    ) -> Result<Page, Silence> {
        body("/readyz", of: address, limit: SingleRequest.answerLimit, timeout).flatMap { status, body in
            // 503 says why it does not deliver.
            (try? JSONDecoder().decode(Page.self, from: Data(body))).map { .success($0) }
                ?? .failure(Silence(reason: "HTTP \(status), which is no worker's answer"))
        }
    }

    /// One's numbers, as Prometheus' text.
    ///
    /// Blocks for `timeout` at most.
    package static func metrics(
        at address: String, limit: Int, timeout: Milliseconds
    ) -> Result<[UInt8], Silence> {
        body("/metrics", of: address, limit: limit, timeout).flatMap { status, body in
            status == 200 ? .success(body) : .failure(Silence(reason: "HTTP \(status) for /metrics"))
        }
    }

    static func body(
        _ path: String, of address: String, limit: Int, _ timeout: Milliseconds, token: String? = nil
    ) -> Result<(status: Int, body: [UInt8]), Silence> {
        let request = SingleRequest(
            .get, url: "http://\(address)\(path)", authorization: token.map { "Bearer \($0)" }, bodyLimit: limit,
            timeout: timeout, proxy: nil, tls: TLSFiles())
        switch request.perform() {
        case .failure(_, let detail): return .failure(Silence(reason: detail))
        case .response(let response): return .success((response.status, response.body))
        }
    }

    /// Why there is no answer of a worker's.
    package struct Silence: Error, Equatable {
        package var reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// What `/readyz` answers, as far as it is of interest; what older workers do not say is absent.
    package struct Page: Decodable, Sendable, Equatable {
        package struct Reason: Decodable, Sendable, Equatable {
            package var reason: String
            package var sentence: String
            /// Since when, where the worker says it: RFC 3339.
            package var since: String?

            package init(reason: String, sentence: String, since: String? = nil) {
                self.reason = reason
                self.sentence = sentence
                self.since = since
            }
        }

        package struct Group: Decodable, Sendable, Equatable {
            package var name: String
            package var member: Bool
        }

        package var ready: Bool
        package var reasons: [Reason]
        package var warnings: [Reason]?
        package var group: Group?

        package init(ready: Bool, reasons: [Reason] = [], warnings: [Reason]? = nil, group: Group? = nil) {
            self.ready = ready
            self.reasons = reasons
            self.warnings = warnings
            self.group = group
        }

        fileprivate var isJoining: Bool {
            group?.member == false && !reasons.isEmpty && reasons.allSatisfy { Self.joining.contains($0.reason) }
        }

        private static let joining = [ReadinessReason.starting.word, ReadinessReason.unassigned.word]
    }

    private static func text(_ host: String, _ port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

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
    package static func trouble(
        group: String, named: [String]?, listen: (host: String, port: UInt16)?, admin: Admin
    ) -> String? {
        guard let description = try? admin.describeGroup(group, timeout: 2 * patience)
        else { return nil }
        guard !description.members.isEmpty else {
            return "No worker runs in the group \(group): what is published waits until one does."
        }
        let workers = ask(addresses(of: description.members, named: named, listen: listen), group: group)
        for worker in workers {
            if case .notReady(let sentences) = worker.state {
                return "The worker at \(worker.address) does not deliver: \(sentences.joined(separator: " "))"
            }
        }
        return workers.first { !$0.warnings.isEmpty }.map {
            "The worker at \($0.address) warns: \($0.warnings.joined(separator: " "))"
        }
    }
}
