internal import CCurl
internal import CHTTPParser
internal import CMicroHTTPD
internal import CNGHTTP2
internal import CSSL

/// The C libraries that HTTP and TLS are made with.
public enum HTTPLibraries {
    /// Their names, and the versions of those that the process runs with, as each says itself.
    public static var versions: [(name: String, version: String)] {
        [
            ("libcurl", String(cString: curl_version_info(CURLVERSION_FIRST).pointee.version)),
            ("OpenSSL", String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))),
            ("libmicrohttpd", String(cString: MHD_get_version())),
            ("http_parser", parserVersion),
            ("nghttp2", nghttp2_version(0).map { String(cString: $0.pointee.version_str) } ?? ""),
        ]
    }

    /// http_parser packs its version into a number, one byte for each part.
    private static var parserVersion: String {
        let packed = http_parser_version()
        return "\(packed >> 16 & 0xFF).\(packed >> 8 & 0xFF).\(packed & 0xFF)"
    }
}
