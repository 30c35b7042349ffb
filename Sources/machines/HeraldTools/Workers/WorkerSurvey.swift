import Foundation
internal import Glibc
package import HeraldEvents
internal import HeraldHTTP
package import HeraldKafka
package import HeraldTime

/// What a group's workers say of themselves at their admin ports.
package struct WorkerSurvey: Sendable {
    package enum State: Sendable, Equatable {
        case answered(WorkerStatus)
        /// It is another group's.
        case elsewhere(group: String)
        case silent(Silence)
    }

    package struct Worker: Sendable, Equatable {
        /// As `host:port`.
        package var address: String
        package var state: State

        package init(address: String, state: State) {
            self.address = address
            self.state = state
        }

        /// What it says of itself, if it is this group's.
        package var status: WorkerStatus? { if case .answered(let status) = state { status } else { nil } }
        /// Whether it is on its way into the group, and nothing else is known to keep it from delivering.
        package var isJoining: Bool { status?.isJoining ?? false }
    }

    /// Why there is no answer of a worker's.
    package struct Silence: Error, Equatable {
        package var reason: String
        /// Whether a program answers there that may be a worker of before there was `/status`.
        package var isOlder: Bool

        package init(reason: String, isOlder: Bool = false) {
            self.reason = reason
            self.isOlder = isOlder
        }
    }

    /// So many are asked at most.
    package static let limit = 16
    /// One of them may take so long.
    package static let patience = Milliseconds.seconds(1)

    /// Where the admin ports are, as `host:port`: those that were named, or where members run, at the port that a member
    /// carries in its `client.id`, because it took a free one (port 0), or at that of the settings.
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
            // A worker that took a free port says which, whatever port others have.
            let free = AdminPortName.port(in: member.clientID)
            guard let port = free ?? (listen.port != 0 ? listen.port : nil) else { continue }
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
        switch status(at: address) {
        case .success(let status):
            // What keeps another group's worker is none of this one's business.
            Worker(
                address: address,
                state: status.group.name == group ? .answered(status) : .elsewhere(group: status.group.name))
        case .failure(let silence): Worker(address: address, state: .silent(silence))
        }
    }

    /// How far the clock of a worker is behind this machine's, exact to a second; negative when it is ahead, and `nil` when
    /// the worker does not answer.
    ///
    /// Blocks for ``patience`` at most.
    package static func clockLag(of address: String) -> Milliseconds? {
        let request = SingleRequest(
            .get, url: "http://\(address)/livez", authorization: nil, bodyLimit: statusLimit, timeout: patience,
            proxy: nil, tls: TLSFiles())
        guard case .response(let response) = request.perform(), let date = response.date.flatMap(HTTPDate.parse) else {
            return nil
        }
        return SystemClock.wall().time(since: date)
    }

    /// More than a worker of many push services says.
    private static let statusLimit = 1 << 20

    /// What one says of itself, with no more in it than a worker's can have, safe to show.
    ///
    /// Blocks for `timeout` at most.
    package static func status(
        at address: String, timeout: Milliseconds = patience
    ) -> Result<WorkerStatus, Silence> {
        answer("/status", of: address, limit: statusLimit, timeout) { (status) -> Silence? in
            // A page that is not there wants the token first.
            guard status == 401 || status == 404 else { return nil }
            return Silence(reason: "HTTP \(status) for /status, as of a worker of an older version", isOlder: true)
        }.map { (status: WorkerStatus) in status.bounded }
    }

    /// What a worker answers for a page.
    ///
    /// - Parameter silence: what another status than 200 means; `nil` where it means nothing of its own.
    static func answer<Answer: Decodable>(
        _ page: String, _ query: String = "", of address: String, limit: Int, _ timeout: Milliseconds,
        token: String? = nil, silence: (Int) -> Silence?
    ) -> Result<Answer, Silence> {
        let request = SingleRequest(
            .get, url: "http://\(address)\(page)\(query)", authorization: token.map { "Bearer \($0)" },
            bodyLimit: limit, timeout: timeout, proxy: nil, tls: TLSFiles())
        switch request.perform() {
        case .failure(_, let detail): return .failure(Silence(reason: detail))
        case .response(let response) where response.status == 200:
            return (try? JSONDecoder().decode(Answer.self, from: Data(response.body))).map { .success($0) }
                ?? .failure(Silence(reason: "an answer that is no worker's"))
        case .response(let response):
            return .failure(silence(response.status) ?? Silence(reason: "HTTP \(response.status) for \(page)"))
        }
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
    /// That the group has no members.
    package static func noWorker(in group: String) -> Finding {
        Finding(.noWorker, "no worker runs in the group \(group), and what is published waits until one does")
    }

    /// Why what is published now will wait; `nil` when nothing is known that speaks against it.
    ///
    /// Blocks for a few seconds at most.
    ///
    /// - Parameter pushServices: those that it is published for; `nil` for any.
    package static func trouble(
        group: String, named: [String]?, listen: (host: String, port: UInt16)?, admin: Admin,
        pushServices: [String]? = nil
    ) -> String? {
        guard let description = try? admin.describeGroup(group, timeout: 2 * patience)
        else { return nil }
        guard !description.members.isEmpty else {
            return noWorker(in: group).sentence
        }
        let statuses = ask(addresses(of: description.members, named: named, listen: listen), group: group)
            .compactMap { worker in worker.status.map { (worker.address, $0) } }
        if let (address, status) = statuses.first(where: { !$1.isReady }) {
            return
                "The worker at \(address) does not deliver\(status.delivers ? " all of it" : ""): \(status.reasons.sentences)"
        }
        return warning(statuses, pushServices)
    }

    /// The first worker's warnings that concern these push services; `nil` for any.
    static func warning(_ statuses: [(String, WorkerStatus)], _ pushServices: [String]?) -> String? {
        statuses.lazy
            .map { ($0, $1.warnings.filter { warning in pushServices.map(warning.concerns) ?? true }) }
            .first { !$1.isEmpty }.map { "The worker at \($0) warns: \($1.sentences)" }
    }
}
