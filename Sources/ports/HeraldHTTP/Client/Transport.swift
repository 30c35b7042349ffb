internal import CCurl
internal import Glibc
import HeraldThreads
import HeraldTime

/// One connection made by libcurl: the handle, its socket, and bytes in and out.
///
/// Owns the easy handle, its error buffer and, once it is connected, the socket. The handle sits in its ``ConnectGroup``'s
/// multi handle as long as it is used, and the group frees it. Everything happens on the loop's thread.
///
/// libcurl takes a connection that was handed out for an idle one. When it makes another it closes those that were made
/// 118 seconds ago, and those whose other side has closed (`prune_dead_connections` in its url.c), whatever call they
/// carry: the call would wait for its time-out, and a new socket could have the old one's number. So there is no such
/// age, and libcurl closes no socket that is handed out.
final class Transport {
    enum Result {
        case bytes(Int)
        /// Not now: the loop reports when.
        case wouldBlock
        /// The other side sends no more.
        case end
        /// The connection is unusable; ``Transport/failure`` says why.
        case failed
    }

    let handle: UnsafeMutableRawPointer
    /// The connected socket; -1 before that.
    private(set) var socket: Int32 = -1
    private static let kept = Guarded<Set<Int32>>([])
    /// In seconds, libcurl's `CURLOPT_MAXAGE_CONN`.
    private static let noAge = Int(Int32.max)

    private let isPlain: Bool
    private let versions: HTTPVersions
    /// HTTP/2's, where TLS may agree on it.
    private let offer: HTTP2Offer?
    /// libcurl reads it for as long as the handle lives.
    private let connectTo: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>
    private var errorNumber: Int32 = 0

    /// A handle that connects as the options say; `nil` when libcurl has no memory left or knows an option not.
    ///
    /// - Parameter address: where to connect to, as a URL writes it; `nil` leaves that to the proxy.
    init?(options: ConnectionOptions, slot: Int, address: String?) {
        guard CurlLibrary.isReady, let handle = curl_easy_init() else { return nil }
        self.handle = handle
        isPlain = options.isPlain
        versions = options.versions
        offer = options.makeOffer()
        connectTo = address.flatMap { curl_slist_append(nil, "::\($0):") }
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        if !configure(options, slot: slot) { return nil }
    }

    deinit {
        curl_easy_cleanup(handle)
        if socket >= 0 {
            Self.kept.withLock { _ = $0.remove(socket) }
            close(socket)
        }
        curl_slist_free_all(connectTo)
        errorText.deallocate()
    }

    private func configure(_ options: ConnectionOptions, slot: Int) -> Bool {
        var codes = [
            herald_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText),
            herald_curl_set_pointer(handle, CURLOPT_PRIVATE, UnsafeRawPointer(bitPattern: slot + 1)),
            herald_curl_set_string(handle, CURLOPT_URL, options.origin),
            herald_curl_set_long(handle, CURLOPT_CONNECT_ONLY, 1),
            herald_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(options.connectTimeout.count)),
            herald_curl_set_pointer(handle, CURLOPT_CONNECT_TO, connectTo),
            herald_curl_set_long(handle, CURLOPT_TCP_NODELAY, 1),
            herald_curl_set_long(handle, CURLOPT_TCP_KEEPALIVE, 1),
            herald_curl_set_long(handle, CURLOPT_BUFFERSIZE, 1_024),
            herald_curl_set_long(handle, CURLOPT_MAXAGE_CONN, Self.noAge),
            herald_curl_set_close_callback(handle) { _, socket in
                Transport.kept.withLock { $0.contains(socket) } ? 0 : Glibc.close(socket)
            },
        ]
        codes += CurlLibrary.setReach(of: handle, proxy: options.proxy, tls: options.tls)
        if let offer { codes += offer.apply(to: handle) }
        return codes.allSatisfy { $0 == CURLE_OK }
    }

    /// Whether HTTP/2 is spoken on the connection; `nil` when it should be, and the other side has not agreed.
    var speaksHTTP2: Bool? {
        switch versions {
        case .http1: false
        case .agreed: offer?.isAgreed ?? false
        case .http2: offer.map(\.isAgreed) ?? true ? true : nil
        }
    }

    /// Learns the socket, once libcurl says that the connection is made.
    func connected() -> Bool {
        var number: Int32 = -1
        guard herald_curl_get_socket(handle, &number) == CURLE_OK, number >= 0 else { return false }
        socket = number
        Self.kept.withLock { _ = $0.insert(number) }
        return true
    }

    /// Writes as many of the bytes as there is room for.
    func send(_ bytes: UnsafeRawBufferPointer) -> Result {
        if isPlain {
            let count = Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            return count >= 0 ? .bytes(count) : plainFailure()
        }
        var count = 0
        errorText[0] = 0
        switch curl_easy_send(handle, bytes.baseAddress, bytes.count, &count) {
        case CURLE_OK: return .bytes(count)
        case CURLE_AGAIN: return .wouldBlock
        default: return .failed
        }
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Result {
        if isPlain {
            let count = recv(socket, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            return count == 0 ? .end : plainFailure()
        }
        var count = 0
        errorText[0] = 0
        switch curl_easy_recv(handle, buffer.baseAddress, buffer.count, &count) {
        case CURLE_OK: return count > 0 ? .bytes(count) : .end
        case CURLE_AGAIN: return .wouldBlock
        default: return .failed
        }
    }

    /// Whether a read of fewer bytes than the buffer holds means that nothing is left; TLS keeps bytes of its own.
    var isDrainedByShortRead: Bool { isPlain }

    /// Has the next failure's words kept as well: libcurl fills a handle's error buffer only once, and after a failed
    /// write the reason (TLS's alert) comes with the read that follows.
    func recordNextFailure() {
        if isPlain { return }
        let record: curl_debug_callback = { _, kind, text, count, context in
            guard kind == CURLINFO_TEXT, let text, let context else { return 0 }
            let kept = min(count, Int(CURL_ERROR_SIZE) - 1)
            let buffer = context.assumingMemoryBound(to: CChar.self)
            buffer.update(from: text, count: kept)
            buffer[kept] = 0
            return 0
        }
        _ = herald_curl_set_debug_callback(handle, record, errorText)
        _ = herald_curl_set_long(handle, CURLOPT_VERBOSE, 1)
    }

    private func plainFailure() -> Result {
        errorNumber = errno
        return errorNumber == EAGAIN ? .wouldBlock : .failed
    }

    var failure: Failure {
        if isPlain { return Failure(kind: .connectionReset, detail: SystemError.text(of: errorNumber)) }
        let text = String(cString: errorText)
        return Failure(kind: Self.kindOfLoss(text), detail: text.isEmpty ? "connection lost" : text)
    }

    /// TLS 1.3 refuses a client certificate only after the handshake, so its alert comes where an answer should.
    private static func kindOfLoss(_ text: String) -> FailureKind {
        text.contains("SSL") && text.contains(" alert ") ? .tls : .connectionReset
    }

    func connectFailure(_ code: CURLcode) -> Failure {
        Self.failure(of: handle, code, text: String(cString: errorText))
    }

    /// What a handle's code means; `text` is what its error buffer says.
    static func failure(of handle: UnsafeMutableRawPointer, _ code: CURLcode, text: String) -> Failure {
        var number = 0
        _ = herald_curl_get_long(handle, CURLINFO_OS_ERRNO, &number)
        let detail = text.isEmpty ? String(cString: curl_easy_strerror(code)) : ProxyAddress.withoutUser(text)
        let errorNumber = Int32(clamping: number)
        return Failure(
            kind: kind(of: code, errorNumber: errorNumber, detail: detail), detail: detail,
            isLocal: code == CURLE_OUT_OF_MEMORY || [ENOBUFS, ENOMEM, EMFILE, ENFILE].contains(errorNumber))
    }

    private static func kind(of code: CURLcode, errorNumber: Int32, detail: String) -> FailureKind {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .nameNotFound
        case CURLE_COULDNT_CONNECT: errorNumber == ECONNREFUSED ? .connectionRefused : .connectFailed
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_SSL_CONNECT_ERROR:
            // A backend that goes away during the handshake is no reason to hold everything.
            detail.contains("SSL_ERROR_SYSCALL") || detail.contains("reset by peer")
                || detail.contains("unexpected eof")
                ? .connectionReset : .tls
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED:
            .tls
        case CURLE_RECV_ERROR where detail.contains("CONNECT tunnel"):
            detail.contains("response 407") ? .proxyRefused : .connectFailed
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING: kindOfLoss(detail)
        default: .connectFailed
        }
    }
}
