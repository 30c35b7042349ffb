import HeraldTime

/// One request over HTTP/2 on its way in and its answer on the way out; its session's thread alone touches it.
final class RequestStream {
    /// What its client still sends.
    enum Reading {
        case head
        case body
        /// All of it is there, or the rest is not wanted.
        case done
    }

    /// What is sent.
    enum Answer {
        case none
        case bytes([UInt8], sent: Int)
        case stream(HTTPStream)
    }

    /// A head may have so many bytes, as HTTP/2 counts them; libmicrohttpd has as much room for one.
    static let headLimitBytes = 32 * 1_024
    /// What a field costs beside its bytes (RFC 9113, 6.5.2).
    private static let fieldOverheadBytes = 32

    let id: Int32
    var reading = Reading.head
    var answer = Answer.none
    /// Until when what is under way has to be done: the request, or the answer's bytes; `nil` while it is worked for.
    var deadline: MonotonicTime?
    /// Set with the head's end.
    var transaction: ServerTransaction?

    private(set) var method = ""
    private(set) var rawTarget = ""
    private(set) var headers = HTTPHeaderFields()
    private var authority: String?
    private var cookies: [String] = []
    private var headBytes = 0

    init(id: Int32, deadline: MonotonicTime) {
        self.id = id
        self.deadline = deadline
    }

    var isHeadTooLarge: Bool { headBytes > Self.headLimitBytes }

    /// Takes a field of the head; nghttp2 has seen to it that pseudo-headers are known, and there once.
    func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        headBytes += name.count + value.count + Self.fieldOverheadBytes
        if isHeadTooLarge { return }
        let (name, value) = (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
        switch name {
        case ":method": method = value
        case ":path": rawTarget = value
        case ":authority": authority = value
        case ":scheme": break
        // A client may send it in pieces (RFC 9113, 8.2.3).
        case "cookie": cookies.append(value)
        default: headers.append(name: name, value: value)
        }
    }

    /// The head is all there.
    func endHead(bodyLimitBytes: Int) -> ServerTransaction {
        if let authority, headers["host"] == nil { headers.append(name: "host", value: authority) }
        if !cookies.isEmpty { headers.append(name: "cookie", value: cookies.joined(separator: "; ")) }
        let transaction = ServerTransaction(rawTarget: rawTarget, bodyLimitBytes: bodyLimitBytes)
        self.transaction = transaction
        reading = .body
        return transaction
    }

    func request(_ target: HTTPTarget, from peer: HTTPPeer) -> HTTPRequest {
        HTTPRequest(method: method, target: target, headers: headers, body: transaction?.body ?? [], peer: peer)
    }
}
