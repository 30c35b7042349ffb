import CSSL
import HeraldThreads

/// TLS of a server for clients that offer HTTP/2, which is all that it agrees to; owns OpenSSL's settings, which any thread
/// may use.
final class TLSAcceptor: @unchecked Sendable {
    private let context: OpaquePointer

    init(_ identity: LocalIdentity) throws(SystemError) {
        let made = herald_ssl_server(identity.certificate, identity.key) { _, chosen, chosenCount, offered, count, _ in
            guard let offered, let chosen, let chosenCount else { return SSL_TLSEXT_ERR_ALERT_FATAL }
            // Names with their lengths in front; OpenSSL has seen to it that they fit.
            var place = 0
            while place < Int(count) {
                let name = UnsafeBufferPointer(start: offered + place + 1, count: Int(offered[place]))
                if name.elementsEqual("h2".utf8) {
                    chosen.pointee = offered + place + 1
                    chosenCount.pointee = offered[place]
                    return SSL_TLSEXT_ERR_OK
                }
                place += name.count + 1
            }
            return SSL_TLSEXT_ERR_ALERT_FATAL
        }
        guard let made else { throw SystemError(call: "OpenSSL did not take the certificate", number: 0) }
        context = made
    }

    deinit { SSL_CTX_free(context) }

    /// A connection whose handshake is still to come; `nil` without memory.
    func accept(_ socket: Int32) -> SecureSocket? {
        guard let connection = SSL_new(context) else { return nil }
        let secure = SecureSocket(connection)
        guard SSL_set_fd(connection, socket) == 1 else { return nil }
        SSL_set_accept_state(connection)
        return secure
    }
}

/// TLS on one accepted socket, which does not block; everything happens on its loop's thread.
final class SecureSocket {
    private let connection: OpaquePointer

    fileprivate init(_ connection: OpaquePointer) { self.connection = connection }

    deinit { SSL_free(connection) }

    /// Goes on with the handshake; whether HTTP/2 is agreed on, `nil` while it is not done.
    func shakeHands() -> Bool? {
        ERR_clear_error()
        let code = SSL_do_handshake(connection)
        guard code == 1 else {
            if case .wouldBlock = outcome(of: code) { return nil }
            return false
        }
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(connection, &name, &count)
        return UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual("h2".utf8)
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transport.Result {
        ERR_clear_error()
        let count = SSL_read(connection, buffer.baseAddress, Int32(clamping: buffer.count))
        return count > 0 ? .bytes(Int(count)) : outcome(of: count)
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Transport.Result {
        ERR_clear_error()
        let count = SSL_write(connection, bytes.baseAddress, Int32(clamping: bytes.count))
        return count > 0 ? .bytes(Int(count)) : outcome(of: count)
    }

    /// Says goodbye; the other side's is not waited for.
    func end() {
        ERR_clear_error()
        SSL_shutdown(connection)
        ERR_clear_error()
    }

    /// What SSL_get_error says of a call that did nothing: without renegotiation a read waits for bytes and a write for
    /// room, and the loop reports both.
    private func outcome(of code: Int32) -> Transport.Result {
        switch SSL_get_error(connection, code) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: .wouldBlock
        case SSL_ERROR_ZERO_RETURN: .end
        default: .failed
        }
    }
}
