internal import CCurl
public import HeraldTime

/// One request with libcurl's whole HTTP client, for requests that are rare and made beside every loop: tokens, probes,
/// traces.
///
/// No redirect is followed and nothing is decompressed. Printed, logged or reflected it shows nothing.
public struct SingleRequest: Sendable, CustomStringConvertible, CustomReflectable {
    /// What came back.
    public enum Outcome: Sendable, Equatable {
        /// The other side answered.
        case response(Response)
        /// There is no answer; `detail` says why in one line.
        case failure(FailureKind, detail: String)
    }

    /// An answer.
    public struct Response: Sendable, Equatable {
        /// Between 200 and 599.
        public let status: Int
        /// The header `Retry-After` in seconds from now; 0 without one.
        public let retryAfterSeconds: Int64
        /// The header `Date` as it came.
        public let date: String?
        /// Those of the wanted headers that came, by the names that were asked for.
        public package(set) var headers: [String: String]
        /// The body; empty when only the head was wanted.
        public let body: [UInt8]
        /// Whether it came over HTTP/2.
        public let isHTTP2: Bool

        /// An answer.
        public init(
            status: Int, retryAfterSeconds: Int64 = 0, date: String? = nil, headers: [String: String] = [:],
            body: [UInt8] = [], isHTTP2: Bool = false
        ) {
            self.status = status
            self.retryAfterSeconds = retryAfterSeconds
            self.date = date
            self.headers = headers
            self.body = body
            self.isHTTP2 = isHTTP2
        }
    }

    /// What is asked for.
    public struct Method: Sendable {
        /// `nil` for GET and POST as libcurl makes them.
        fileprivate var name: String?
        /// An empty one is announced, unlike none.
        fileprivate var body: [UInt8]?
        fileprivate var headerLines: [String] = []
        fileprivate var wantsBody = true

        /// A GET whose answer's head is wanted: the first piece of the body ends it.
        public static let head = Self(wantsBody: false)
        /// A GET whose body is wanted.
        public static let get = Self()

        /// A POST of these bytes, of this media type, whose answer is to be JSON.
        public static func post(_ body: [UInt8], mediaType: String) -> Self {
            Self(body: body, headerLines: ["Content-Type: \(mediaType)", "Accept: application/json"])
        }

        /// A POST of a form, `name=value&…`, encoded.
        public static func post(form: [UInt8]) -> Self { .post(form, mediaType: "application/x-www-form-urlencoded") }

        /// Any method with a body of this media type, or with an empty one without a type.
        public static func other(_ name: String, _ body: [UInt8] = [], mediaType: String? = nil) -> Self {
            // Servers want to be told the length of what is posted or put, if it is 0 (RFC 9110, 8.6).
            let hasBody = !body.isEmpty || mediaType != nil || name == "POST" || name == "PUT"
            // A header without a value is left out by libcurl, which would add one of its own.
            let type = "Content-Type:" + (mediaType.map { " \($0)" } ?? "")
            return Self(name: name, body: hasBody ? body : nil, headerLines: [type])
        }
    }

    /// As much of an answer's body, unless asked for otherwise, and of its headers is accepted; a larger answer is none.
    public static let answerLimit = 64 * 1_024

    private let method: Method
    private let url: String
    private let authorization: String?
    private let headers: [Header]
    private let wantedHeaders: [String]
    private let timeout: Milliseconds
    private let proxy: ProxyAddress?
    private let tls: TLSFiles
    private let bodyLimit: Int
    private let versions: HTTPVersions

    /// A header that only some requests have.
    public struct Header: Sendable {
        let name: String
        let value: String

        /// A name and a value, both checked: they are sent as they are.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A request that is not made yet.
    ///
    /// - Parameters:
    ///   - authorization: the value of the `Authorization` header; `nil` leaves it out.
    ///   - headers: further ones.
    ///   - wantedHeaders: the names of the headers of the answer that are kept, in any case.
    ///   - bodyLimit: as much of an answer's body is accepted.
    ///   - timeout: from the first query for the name to the answer's end.
    public init(
        _ method: Method, url: String, authorization: String?, headers: [Header] = [], wantedHeaders: [String] = [],
        bodyLimit: Int = SingleRequest.answerLimit, timeout: Milliseconds, proxy: ProxyAddress?, tls: TLSFiles,
        versions: HTTPVersions = .http1
    ) {
        self.versions = versions
        self.bodyLimit = bodyLimit
        self.method = method
        self.url = url
        self.authorization = authorization
        self.headers = headers
        self.wantedHeaders = wantedHeaders
        self.timeout = timeout
        self.proxy = proxy
        self.tls = tls
    }

    /// Nothing of what it holds.
    public var description: String { "HTTP request" }
    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Makes the request.
    ///
    /// Blocks; on any thread.
    ///
    /// - Parameter isCancelled: asked about once a second; true ends the request.
    public func perform(isCancelled: @escaping @Sendable () -> Bool = { false }) -> Outcome {
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        let sink = ResponseSink(
            wantsBody: method.wantsBody, bodyLimit: bodyLimit, isCancelled: isCancelled)
        let headers = headerLines.reduce(nil) { curl_slist_append($0, $1) }
        // What the handle points to goes after it.
        defer {
            withExtendedLifetime(sink) {}
            curl_slist_free_all(headers)
            errorText.deallocate()
        }
        guard CurlLibrary.isReady, let handle = curl_easy_init() else {
            return .failure(.connectFailed, detail: "libcurl has no memory left")
        }
        defer { curl_easy_cleanup(handle) }
        return (method.body ?? []).withUnsafeBytes { body in
            var codes = CurlLibrary.setRequest(
                of: handle, url: url, headers: headers, timeout: timeout, errorText: errorText,
                proxy: proxy, tls: tls)
            if method.body != nil {
                // Without an address libcurl would read a body from a callback.
                let bytes = body.baseAddress ?? UnsafeRawPointer(errorText)
                codes += [
                    herald_curl_set_long(handle, CURLOPT_POST, 1),
                    herald_curl_set_long(handle, CURLOPT_POSTFIELDSIZE, body.count),
                    herald_curl_set_pointer(handle, CURLOPT_POSTFIELDS, bytes),
                ]
            }
            if let name = method.name {
                codes.append(herald_curl_set_string(handle, CURLOPT_CUSTOMREQUEST, name))
            }
            codes += [sink.attach(to: handle), herald_curl_set_long(handle, CURLOPT_HTTP_VERSION, curlVersion)]
            guard codes.allSatisfy({ $0 == CURLE_OK }) else {
                return .failure(.connectFailed, detail: "libcurl refused the request")
            }
            let code = curl_easy_perform(handle)
            return outcome(handle, code, sink, String(cString: errorText))
        }
    }

    private var curlVersion: Int {
        switch versions {
        case .http1: Int(CURL_HTTP_VERSION_1_1)
        case .agreed: Int(CURL_HTTP_VERSION_2TLS)
        case .http2:
            Int(url.lowercased().hasPrefix("https:") ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
        }
    }

    private var headerLines: [String] {
        var lines = method.headerLines + ["User-Agent: herald"]
        // No waiting for a "100 Continue".
        if method.body != nil { lines.append("Expect:") }
        if let authorization { lines.append("Authorization: \(authorization)") }
        return lines + headers.map { "\($0.name): \($0.value)" }
    }

    private func outcome(
        _ handle: UnsafeMutableRawPointer, _ code: CURLcode, _ sink: ResponseSink, _ text: String
    ) -> Outcome {
        if sink.isTooLarge {
            return .failure(.brokenHTTP, detail: "the answer is larger than \(bodyLimit / 1_024) KiB")
        }
        guard code == CURLE_OK || sink.hasSeenEnough else {
            if code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY {
                return .failure(.brokenHTTP, detail: "the answer is not HTTP")
            }
            let failure = Transport.failure(of: handle, code, text: text)
            // The message was cut off, or broke HTTP's framing.
            let isCut = code == CURLE_PARTIAL_FILE || code == CURLE_GOT_NOTHING
            return .failure(isCut ? .connectionReset : failure.kind, detail: failure.detail)
        }
        var status = 0
        var retryAfter: curl_off_t = 0
        guard herald_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK, (200..<600).contains(status)
        else { return .failure(.brokenHTTP, detail: "the answer's status is not between 200 and 599") }
        _ = herald_curl_get_offset(handle, CURLINFO_RETRY_AFTER, &retryAfter)
        var version = 0
        _ = herald_curl_get_long(handle, CURLINFO_HTTP_VERSION, &version)
        let isHTTP2 = version == Int(CURL_HTTP_VERSION_2_0)
        if versions == .http2, !isHTTP2 { return .failure(.connectFailed, detail: Failure.noHTTP2.detail) }
        return .response(
            Response(
                status: status, retryAfterSeconds: max(0, Int64(retryAfter)), date: Self.header("Date", of: handle),
                headers: wantedHeaders.reduce(into: [:]) { $0[$1] = Self.header($1, of: handle) }, body: sink.body,
                isHTTP2: isHTTP2))
    }

    private static func header(_ name: String, of handle: UnsafeMutableRawPointer) -> String? {
        var header: UnsafeMutablePointer<curl_header>?
        // The last request's, and of it no trailer.
        guard curl_easy_header(handle, name, 0, UInt32(CURLH_HEADER), -1, &header) == CURLHE_OK,
            let value = header?.pointee.value
        else { return nil }
        return String(cString: value)
    }
}

private final class ResponseSink {
    private(set) var body: [UInt8] = []
    private(set) var isTooLarge = false
    /// The head has come, and no more was wanted.
    private(set) var hasSeenEnough = false
    private var headerCount = 0
    private let wantsBody: Bool
    private let bodyLimit: Int
    private let isCancelled: @Sendable () -> Bool

    init(wantsBody: Bool, bodyLimit: Int, isCancelled: @escaping @Sendable () -> Bool) {
        self.wantsBody = wantsBody
        self.bodyLimit = bodyLimit
        self.isCancelled = isCancelled
    }

    func attach(to handle: UnsafeMutableRawPointer) -> CURLcode {
        let body: curl_write_callback = { bytes, size, count, context in
            ResponseSink.of(context)?.accept(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
        }
        let header: curl_write_callback = { _, size, count, context in
            ResponseSink.of(context)?.countHeader(size * count) ?? 0
        }
        let progress: curl_xferinfo_callback = { context, _, _, _, _ in
            ResponseSink.of(context)?.isCancelled() == true ? 1 : 0
        }
        return herald_curl_set_sinks(handle, body, header, progress, Unmanaged.passUnretained(self).toOpaque())
    }

    private func accept(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard wantsBody else {
            hasSeenEnough = true
            return 0
        }
        guard body.count + bytes.count <= bodyLimit else {
            isTooLarge = true
            return 0
        }
        body.append(contentsOf: bytes)
        return bytes.count
    }

    private func countHeader(_ count: Int) -> Int {
        headerCount += count
        guard headerCount <= SingleRequest.answerLimit else {
            isTooLarge = true
            return 0
        }
        return count
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> ResponseSink? {
        context.map { Unmanaged<ResponseSink>.fromOpaque($0).takeUnretainedValue() }
    }
}
