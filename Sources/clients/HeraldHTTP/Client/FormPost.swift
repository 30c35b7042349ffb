internal import CCurl

/// One POST of a form with libcurl's whole HTTP client, for requests that are rare and made beside every loop: tokens.
///
/// No redirect is followed and nothing is decompressed. Printed, logged or reflected it shows nothing.
public struct FormPost: Sendable, CustomStringConvertible, CustomReflectable {
    /// What came back.
    public enum Answer: Sendable, Equatable {
        /// The other side answered.
        ///
        /// `retryAfterSeconds` is 0 without such a header.
        case status(Int, retryAfterSeconds: Int64, body: [UInt8])
        /// There is no answer; `detail` says why in one line.
        case failure(FailureKind, detail: String)
    }

    /// As much of an answer's body, and of its headers, as is taken; a larger answer is none.
    public static let answerLimit = 64 * 1_024

    private let url: String
    private let form: [UInt8]
    private let authorization: String?
    private let timeoutMilliseconds: Int
    private let proxy: ProxyAddress?
    private let tls: TLSFiles

    /// A POST that is not made yet.
    ///
    /// - Parameters:
    ///   - form: `name=value&…`, encoded.
    ///   - authorization: the value of the `Authorization` header.
    ///   - timeoutMilliseconds: from the first look at the name to the answer's end.
    public init(
        url: String, form: [UInt8], authorization: String?, timeoutMilliseconds: Int, proxy: ProxyAddress?,
        tls: TLSFiles
    ) {
        self.url = url
        self.form = form
        self.authorization = authorization
        self.timeoutMilliseconds = timeoutMilliseconds
        self.proxy = proxy
        self.tls = tls
    }

    /// Nothing of what it holds.
    public var description: String { "POST" }
    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Makes the request.
    ///
    /// Blocks; on any thread.
    ///
    /// - Parameter isCancelled: asked about once a second; true ends the request.
    public func perform(isCancelled: @escaping @Sendable () -> Bool) -> Answer {
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        let sink = Sink(isCancelled: isCancelled)
        let headers = makeHeaders()
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
        return form.withUnsafeBytes { form in
            var codes = CurlLibrary.setRequest(
                of: handle, url: url, headers: headers, timeoutMilliseconds: timeoutMilliseconds, errorText: errorText,
                proxy: proxy, tls: tls)
            codes += [
                herald_curl_set_long(handle, CURLOPT_POST, 1),
                herald_curl_set_long(handle, CURLOPT_POSTFIELDSIZE, form.count),
                herald_curl_set_pointer(handle, CURLOPT_POSTFIELDS, form.baseAddress),
                sink.attach(to: handle),
            ]
            guard codes.allSatisfy({ $0 == CURLE_OK }) else {
                return .failure(.connectFailed, detail: "libcurl refused the request")
            }
            let code = curl_easy_perform(handle)
            return answer(handle, code, sink, String(cString: errorText))
        }
    }

    private func makeHeaders() -> UnsafeMutablePointer<curl_slist>? {
        var lines = [
            "Content-Type: application/x-www-form-urlencoded", "Accept: application/json", "User-Agent: herald",
            // No waiting for a "100 Continue".
            "Expect:",
        ]
        if let authorization { lines.append("Authorization: \(authorization)") }
        return lines.reduce(nil) { curl_slist_append($0, $1) }
    }

    private func answer(_ handle: UnsafeMutableRawPointer, _ code: CURLcode, _ sink: Sink, _ text: String) -> Answer {
        if sink.isTooLarge {
            return .failure(.brokenHTTP, detail: "the answer is larger than \(Self.answerLimit / 1_024) KiB")
        }
        guard code == CURLE_OK else {
            if code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY {
                return .failure(.brokenHTTP, detail: "the answer is not HTTP/1.x")
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
        return .status(status, retryAfterSeconds: max(0, Int64(retryAfter)), body: sink.body)
    }

    /// Where libcurl puts what comes.
    private final class Sink {
        private(set) var body: [UInt8] = []
        private(set) var isTooLarge = false
        private var headerCount = 0
        private let isCancelled: @Sendable () -> Bool

        init(isCancelled: @escaping @Sendable () -> Bool) {
            self.isCancelled = isCancelled
        }

        func attach(to handle: UnsafeMutableRawPointer) -> CURLcode {
            let body: curl_write_callback = { bytes, size, count, context in
                Sink.of(context)?.take(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
            }
            let header: curl_write_callback = { _, size, count, context in
                Sink.of(context)?.countHeader(size * count) ?? 0
            }
            let progress: curl_xferinfo_callback = { context, _, _, _, _ in
                Sink.of(context)?.isCancelled() == true ? 1 : 0
            }
            return herald_curl_set_sinks(
                handle, body, header, progress, Unmanaged.passUnretained(self).toOpaque())
        }

        private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
            guard body.count + bytes.count <= FormPost.answerLimit else {
                isTooLarge = true
                return 0
            }
            body.append(contentsOf: bytes)
            return bytes.count
        }

        private func countHeader(_ count: Int) -> Int {
            headerCount += count
            guard headerCount <= FormPost.answerLimit else {
                isTooLarge = true
                return 0
            }
            return count
        }

        private static func of(_ context: UnsafeMutableRawPointer?) -> Sink? {
            context.map { Unmanaged<Sink>.fromOpaque($0).takeUnretainedValue() }
        }
    }
}
