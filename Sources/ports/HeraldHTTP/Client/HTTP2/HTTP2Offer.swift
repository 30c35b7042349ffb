internal import CCurl
internal import CSSL

/// Offers HTTP/2 in the handshake of one connection of libcurl, and learns whether the other side agreed.
///
/// libcurl must not know of it: with ALPN of its own it begins to speak HTTP/2 itself, even on a connection that it
/// only makes (since 7.88 by its filters). So its ALPN is off, and we set OpenSSL's in its callback for such purposes.
/// It forgets which connection a handle has made, so that OpenSSL has to call us back as well.
final class HTTP2Offer {
    private(set) var isAgreed = false
    private let protocols: [UInt8]
    /// Handshakes before the one with the backend: that with a proxy.
    private var foreignHandshakes: Int
    /// A reference of our own: libcurl may say goodbye on the connection after its ``Transport`` is gone.
    private var context: OpaquePointer?

    private static let place = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil, nil)

    init(isOptional: Bool, hasEncryptedProxy: Bool) {
        protocols = Array("\u{2}h2".utf8) + (isOptional ? Array("\u{8}http/1.1".utf8) : [])
        foreignHandshakes = hasEncryptedProxy ? 1 : 0
    }

    deinit {
        guard let context else { return }
        SSL_CTX_set_ex_data(context, Self.place, nil)
        SSL_CTX_free(context)
    }

    /// Has the handle make the offer; it must not outlive this object.
    func apply(to handle: UnsafeMutableRawPointer) -> [CURLcode] {
        let beforeHandshake: curl_ssl_ctx_callback = { _, context, offer in
            guard let context, let offer else { return CURLE_ABORTED_BY_CALLBACK }
            return Unmanaged<HTTP2Offer>.fromOpaque(offer).takeUnretainedValue().prepare(OpaquePointer(context))
        }
        return [
            herald_curl_set_long(handle, CURLOPT_SSL_ENABLE_ALPN, 0),
            herald_curl_set_tls_callback(handle, beforeHandshake, Unmanaged.passUnretained(self).toOpaque()),
        ]
    }

    private func prepare(_ fresh: OpaquePointer) -> CURLcode {
        if foreignHandshakes > 0 {
            foreignHandshakes -= 1
            return CURLE_OK
        }
        guard context == nil, SSL_CTX_up_ref(fresh) == 1 else { return CURLE_ABORTED_BY_CALLBACK }
        context = fresh
        // The one function of OpenSSL that returns 0 when it succeeds.
        guard SSL_CTX_set_alpn_protos(fresh, protocols, UInt32(protocols.count)) == 0,
            SSL_CTX_set_ex_data(fresh, Self.place, Unmanaged.passUnretained(self).toOpaque()) == 1
        else { return CURLE_OUT_OF_MEMORY }
        SSL_CTX_set_info_callback(fresh) { connection, event, _ in
            guard event & SSL_CB_HANDSHAKE_DONE != 0, let connection,
                let offer = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), HTTP2Offer.place)
            else { return }
            Unmanaged<HTTP2Offer>.fromOpaque(offer).takeUnretainedValue().learn(connection)
        }
        return CURLE_OK
    }

    private func learn(_ connection: OpaquePointer) {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(connection, &name, &count)
        isAgreed = UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual("h2".utf8)
    }
}
