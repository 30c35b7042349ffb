internal import CCurl
internal import Glibc
import HeraldTime

/// The set-up of libcurl, once in a process.
enum CurlLibrary {
    /// Whether libcurl can be used.
    ///
    /// The first access initialises libcurl.
    ///
    /// SIGPIPE is ignored from then on, unless the process has a handler for it: OpenSSL writes to sockets without
    /// suppressing the signal, and our handles promise libcurl (CURLOPT_NOSIGNAL) that the process takes care of it.
    static let isReady: Bool = {
        var current = sigaction()
        if sigaction(SIGPIPE, nil, &current) == 0, current.__sigaction_handler.sa_handler == nil {
            signal(SIGPIPE, SIG_IGN)
        }
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    /// Sets the options that every handle needs: the way to the other side, its check, and protection from the
    /// environment.
    static func setReach(of handle: UnsafeMutableRawPointer, proxy: ProxyAddress?, tls: TLSFiles) -> [CURLcode] {
        var codes = [
            herald_curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
            // Otherwise ALPN may agree on HTTP/2, and our own requests get no answer.
            herald_curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            // Always set: otherwise the environment's proxy and exceptions are used.
            herald_curl_set_string(handle, CURLOPT_PROXY, proxy?.urlWithUser ?? ""),
            herald_curl_set_string(handle, CURLOPT_NOPROXY, ""),
            herald_curl_set_long(handle, CURLOPT_HTTPPROXYTUNNEL, 1),
            // A slow resolver must not block when the handle goes.
            herald_curl_set_long(handle, CURLOPT_QUICK_EXIT, 1),
            herald_curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1),
            herald_curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2),
            herald_curl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            // A directory of authorities switches libcurl's cache off: every connection would parse all of them.
            herald_curl_set_string(handle, CURLOPT_CAPATH, nil),
            herald_curl_set_string(handle, CURLOPT_CAINFO, tls.caFile ?? systemAuthorities),
        ]
        if let file = tls.certificateFile {
            codes.append(herald_curl_set_string(handle, CURLOPT_SSLCERT, file))
            codes.append(herald_curl_set_string(handle, CURLOPT_SSLKEY, tls.keyFile ?? file))
        }
        return codes
    }

    /// Sets the options of every request that libcurl makes whole, beside the way to the other side.
    ///
    /// `errorText` and `headers` have to live as long as the handle.
    static func setRequest(
        of handle: UnsafeMutableRawPointer, url: String, headers: UnsafeMutablePointer<curl_slist>?,
        timeout: Milliseconds, errorText: UnsafeMutablePointer<CChar>, proxy: ProxyAddress?, tls: TLSFiles
    ) -> [CURLcode] {
        setReach(of: handle, proxy: proxy, tls: tls) + [
            herald_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText),
            herald_curl_set_string(handle, CURLOPT_URL, url),
            herald_curl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https"),
            herald_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
            herald_curl_set_long(handle, CURLOPT_TIMEOUT_MS, Int(timeout.count)),
            herald_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers),
        ]
    }

    /// The file with the system's authorities, where libcurl was not built with one.
    static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"
}
