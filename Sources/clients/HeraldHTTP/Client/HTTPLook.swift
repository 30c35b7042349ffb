internal import CCurl

/// One GET with libcurl's whole HTTP client, for what the answer's head says: for tools, beside every loop.
///
/// No redirect is followed. Printed, logged or reflected it shows nothing.
package struct HTTPLook: Sendable, CustomStringConvertible, CustomReflectable {
    /// What came back.
    package enum Answer: Sendable, Equatable {
        /// The other side answered; `date` is its header of that name, as it came.
        case status(Int, date: String?)
        /// There is no answer; `detail` says why in one line.
        case failure(FailureKind, detail: String)
    }

    private let url: String
    private let authorization: String?
    private let timeoutMilliseconds: Int
    private let proxy: ProxyAddress?
    private let tls: TLSFiles

    /// A GET that is not made yet.
    ///
    /// - Parameters:
    ///   - authorization: the value of the `Authorization` header; `nil` leaves it out.
    ///   - timeoutMilliseconds: from the first look at the name to the answer's end.
    package init(
        url: String, authorization: String?, timeoutMilliseconds: Int, proxy: ProxyAddress?, tls: TLSFiles
    ) {
        self.url = url
        self.authorization = authorization
        self.timeoutMilliseconds = timeoutMilliseconds
        self.proxy = proxy
        self.tls = tls
    }

    /// Nothing of what it holds.
    package var description: String { "GET" }
    /// Nothing of what it holds.
    package var customMirror: Mirror { Mirror(self, children: [:]) }

    /// As much of a body as is read; of a larger one this much is.
    package static let bodyLimit = 64 * 1_024

    /// Makes the request, and throws the answer's body away.
    ///
    /// Blocks; on any thread.
    package func perform() -> Answer {
        // Whatever its length is, the body is not wanted: the first piece of it ends the request.
        perform(body: { _, _, _, _ in 0 }, context: nil)
    }

    /// Makes the request, and keeps the answer's body.
    ///
    /// Blocks; on any thread.
    package func read() -> (answer: Answer, body: [UInt8]) {
        var body: [UInt8] = []
        let answer = withUnsafeMutablePointer(to: &body) { body in
            perform(
                body: { bytes, size, count, context in
                    guard let body = context?.assumingMemoryBound(to: [UInt8].self),
                        body.pointee.count + size * count <= HTTPLook.bodyLimit
                    else { return 0 }
                    body.pointee.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: size * count))
                    return size * count
                }, context: body)
        }
        return (answer, body)
    }

    private func perform(body: curl_write_callback, context: UnsafeMutableRawPointer?) -> Answer {
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        var headers = curl_slist_append(nil, "User-Agent: herald")
        if let authorization { headers = curl_slist_append(headers, "Authorization: \(authorization)") }
        // What the handle points to goes after it.
        defer {
            curl_slist_free_all(headers)
            errorText.deallocate()
        }
        guard CurlLibrary.isReady, let handle = curl_easy_init() else {
            return .failure(.connectFailed, detail: "libcurl has no memory left")
        }
        defer { curl_easy_cleanup(handle) }
        var codes = CurlLibrary.setRequest(
            of: handle, url: url, headers: headers, timeoutMilliseconds: timeoutMilliseconds, errorText: errorText,
            proxy: proxy, tls: tls)
        codes.append(herald_curl_set_write_callback(handle, body))
        codes.append(herald_curl_set_pointer(handle, CURLOPT_WRITEDATA, context))
        guard codes.allSatisfy({ $0 == CURLE_OK }) else {
            return .failure(.connectFailed, detail: "libcurl refused the request")
        }
        let code = curl_easy_perform(handle)
        var status = 0
        guard code == CURLE_OK || code == CURLE_WRITE_ERROR else {
            let failure = Transport.failure(of: handle, code, text: String(cString: errorText))
            let isNoHTTP = code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY
            return .failure(isNoHTTP ? .brokenHTTP : failure.kind, detail: failure.detail)
        }
        guard herald_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK, (200..<600).contains(status)
        else { return .failure(.brokenHTTP, detail: "the answer's status is not between 200 and 599") }
        return .status(status, date: Self.date(of: handle))
    }

    private static func date(of handle: UnsafeMutableRawPointer) -> String? {
        var header: UnsafeMutablePointer<curl_header>?
        // The last request's, and of it no trailer.
        guard curl_easy_header(handle, "Date", 0, UInt32(CURLH_HEADER), -1, &header) == CURLHE_OK,
            let value = header?.pointee.value
        else { return nil }
        return String(cString: value)
    }
}
