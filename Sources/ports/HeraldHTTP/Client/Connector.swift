internal import CCurl
internal import HeraldTime

/// Makes connections with libcurl on the loop, and takes them back.
///
/// Nothing here blocks: libcurl resolves names on a thread of its own and is called when its socket or time is due.
final class Connector {
    enum Outcome {
        case connected(slot: Int)
        case failed(slot: Int, Failure)
    }

    private struct Link {
        var transport: Transport
        var group: Int
    }

    private let loop: EventLoop
    private let owner: UInt8
    private var options: ConnectionOptions
    private var groups: [ConnectGroup?] = []
    private var links: [Link?]

    init(loop: EventLoop, owner: UInt8, options: ConnectionOptions) {
        self.loop = loop
        self.owner = owner
        self.options = options
        links = Array(repeating: nil, count: options.limit)
    }

    func raise(limit: Int) { links += Array(repeating: nil, count: limit - links.count) }

    /// Makes connections with other files and credentials from now on; existing ones stay.
    func use(proxy: ProxyAddress?, tls: TLSFiles) {
        options.proxy = proxy
        options.tls = tls
        // libcurl remembers the authorities with the multi handle: new ones need a new handle.
        for index in groups.indices {
            groups[index]?.isRetired = true
            forgetIfUnused(index)
        }
    }

    /// Makes connections that offer these versions from now on; existing ones stay.
    func offer(_ versions: HTTPVersions) { options.versions = versions }

    /// Begins to connect; the slot's number returns with the outcome.
    ///
    /// - Parameter address: the target, as a URL writes it; `nil` leaves it to the proxy.
    /// - Returns: a failure when that cannot even begin.
    func start(slot: Int, address: String?) -> Failure? {
        guard let transport = Transport(options: options, slot: slot, address: address), let group = groupWithRoom(),
            groups[group]?.add(transport) == true
        else { return Failure(kind: .connectFailed, detail: "libcurl refused to make a connection", isLocal: true) }
        links[slot] = Link(transport: transport, group: group)
        return nil
    }

    /// Closes the slot's connection, or gives up making it.
    func close(slot: Int) {
        guard let link = links[slot] else { return }
        if link.transport.socket >= 0 { loop.remove(link.transport.socket) }
        groups[link.group]?.remove(link.transport)
        links[slot] = nil
        forgetIfUnused(link.group)
    }

    func closeAll() {
        for slot in links.indices { close(slot: slot) }
    }

    func transport(slot: Int) -> Transport? { links[slot]?.transport }

    var nextDeadline: MonotonicTime? {
        var earliest: MonotonicTime?
        for group in groups {
            guard let deadline = group?.deadline else { continue }
            if let known = earliest, known <= deadline { continue }
            earliest = deadline
        }
        return earliest
    }

    func tick(_ now: MonotonicTime) {
        for case let group? in groups {
            if let deadline = group.deadline, deadline <= now { group.timeout() }
        }
    }

    func socketReady(_ token: PoolToken, event: ReadyEvent) {
        guard token.group < groups.count else { return }
        groups[token.group]?.socketReady(Int32(truncatingIfNeeded: token.number), event: event)
    }

    /// The next attempt that ended; a failed one is closed already.
    func nextOutcome() -> Outcome? {
        for group in groups {
            guard let ended = group?.nextOutcome() else { continue }
            guard let transport = links[ended.slot]?.transport else { continue }
            if ended.code == CURLE_OK, transport.connected() { return .connected(slot: ended.slot) }
            let failure =
                ended.code == CURLE_OK
                ? Failure(kind: .connectFailed, detail: "libcurl gave no socket")
                : transport.connectFailure(ended.code)
            close(slot: ended.slot)
            return .failed(slot: ended.slot, failure)
        }
        return nil
    }

    private func forgetIfUnused(_ index: Int) {
        if let group = groups[index], group.isRetired, group.count == 0 { groups[index] = nil }
    }

    private func groupWithRoom() -> Int? {
        if let index = groups.firstIndex(where: { $0?.hasRoom == true }) { return index }
        let index = groups.firstIndex { $0 == nil } ?? groups.count
        guard let group = ConnectGroup(loop: loop, owner: owner, index: index) else { return nil }
        if index == groups.count { groups.append(group) } else { groups[index] = group }
        return index
    }
}
