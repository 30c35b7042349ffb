internal import CCurl
internal import HeraldTime

/// One multi handle of libcurl and its connections.
///
/// It owns the multi handle; a ``Transport`` has to be removed before it goes. While libcurl connects it names the
/// sockets and the time that it waits for, and the loop waits for them; the pool watches connected sockets.
final class ConnectGroup {
    struct Outcome {
        var slot: Int
        var code: CURLcode
    }

    /// libcurl finds a connection by walking a list, so a group stays small.
    static let capacity = 64

    private(set) var count = 0
    /// The time at which ``timeout()`` has to be called; `nil` when libcurl waits for no time.
    private(set) var deadline: MonotonicTime?

    /// Whether it only keeps its connections: their files are not in use any more.
    var isRetired = false
    var hasRoom: Bool { !isRetired && count < Self.capacity }

    private let multi: UnsafeMutableRawPointer
    private let loop: EventLoop
    private let owner: UInt8
    private let index: Int

    /// `nil` when libcurl has no memory left.
    init?(loop: EventLoop, owner: UInt8, index: Int) {
        guard CurlLibrary.isReady, let multi = curl_multi_init() else { return nil }
        self.multi = multi
        self.loop = loop
        self.owner = owner
        self.index = index
        let context = Unmanaged.passUnretained(self).toOpaque()
        let codes = [
            herald_curl_multi_set_socket_callback(multi, Self.socketChanged, context),
            herald_curl_multi_set_timer_callback(multi, Self.timerChanged, context),
        ]
        if !codes.allSatisfy({ $0 == CURLM_OK }) { return nil }
    }

    deinit {
        curl_multi_cleanup(multi)
    }

    /// Begins to connect; false when libcurl refuses (no memory).
    func add(_ transport: Transport) -> Bool {
        guard curl_multi_add_handle(multi, transport.handle) == CURLM_OK else { return false }
        count += 1
        return true
    }

    /// Closes the transport's connection, or gives up making it.
    func remove(_ transport: Transport) {
        // CURLM_BAD_HANDLE and CURLM_RECURSIVE_API_CALL would be our own mistake.
        curl_multi_remove_handle(multi, transport.handle)
        count -= 1
    }

    func socketReady(_ socket: Int32, event: ReadyEvent) {
        var mask: Int32 = 0
        if event.isReadable { mask |= CURL_CSELECT_IN }
        if event.isWritable { mask |= CURL_CSELECT_OUT }
        if event.isBroken { mask |= CURL_CSELECT_ERR }
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, mask, &running)
    }

    func timeout() {
        deadline = nil
        var running: Int32 = 0
        curl_multi_socket_action(multi, -1, 0, &running)
    }

    /// The next attempt that ended since the last call, if any.
    func nextOutcome() -> Outcome? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            var mark: UnsafeMutableRawPointer?
            guard herald_curl_get_pointer(handle, CURLINFO_PRIVATE, &mark) == CURLE_OK, let mark else { continue }
            return Outcome(slot: Int(bitPattern: mark) - 1, code: message.pointee.data.result)
        }
        return nil
    }

    private func watch(_ socket: Int32, for what: Int32) {
        let interest: EventLoop.Interest
        switch what {
        case CURL_POLL_IN: interest = .readable
        case CURL_POLL_OUT: interest = .writable
        case CURL_POLL_INOUT: interest = .readableAndWritable
        default: return loop.remove(socket)
        }
        let token = PoolToken(kind: .connecting, group: index, number: Int(socket)).eventToken(owner: owner)
        do {
            try loop.change(socket, token: token, interest: interest)
        } catch {
            // Not watched yet. Should the kernel have no room for it, the attempt ends at its time-out.
            try? loop.add(socket, token: token, interest: interest)
        }
    }

    private static let socketChanged: curl_socket_callback = { _, socket, what, context, _ in
        if let context { Unmanaged<ConnectGroup>.fromOpaque(context).takeUnretainedValue().watch(socket, for: what) }
        return 0
    }

    private static let timerChanged: curl_multi_timer_callback = { _, milliseconds, context in
        guard let context else { return 0 }
        let group = Unmanaged<ConnectGroup>.fromOpaque(context).takeUnretainedValue()
        group.deadline =
            milliseconds < 0 ? nil : SystemClock.monotonic().advanced(by: .milliseconds(milliseconds))
        return 0
    }
}
