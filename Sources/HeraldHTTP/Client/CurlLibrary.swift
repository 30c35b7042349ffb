internal import CCurl
internal import Glibc

/// What libcurl needs once in a process.
enum CurlLibrary {
    /// Whether libcurl can be used.
    ///
    /// The first look at it initialises libcurl.
    ///
    /// SIGPIPE is ignored from then on, unless the process has a handler for it: OpenSSL writes to sockets without a
    /// word against the signal, and our handles promise libcurl (CURLOPT_NOSIGNAL) that somebody takes care of it.
    static let isReady: Bool = {
        var current = sigaction()
        if sigaction(SIGPIPE, nil, &current) == 0, current.__sigaction_handler.sa_handler == nil {
            signal(SIGPIPE, SIG_IGN)
        }
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    /// The file with the system's authorities, where libcurl was not built with one.
    static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"
}
