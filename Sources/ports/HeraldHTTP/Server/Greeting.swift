/// What a client's first bytes say about the version of HTTP that it speaks.
enum Greeting: Equatable {
    case http1
    case http2
    /// More bytes have to come.
    case undecided

    /// So many bytes are looked at; a client that says no more in them speaks HTTP/1.1.
    static let limitBytes = 32 * 1_024
    /// Of HTTP/2 by prior knowledge (RFC 9113, 3.4): no request of HTTP/1.1 begins so.
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    init(_ bytes: UnsafeRawBufferPointer, isEncrypted: Bool) {
        if isEncrypted {
            switch ClientHello.offersHTTP2(bytes) {
            case true?: self = .http2
            case false?: self = .http1
            case nil: self = bytes.count < Self.limitBytes ? .undecided : .http1
            }
        } else if bytes.count < Self.preface.count {
            self = Self.preface.starts(with: bytes) ? .undecided : .http1
        } else {
            self = bytes.starts(with: Self.preface) ? .http2 : .http1
        }
    }
}
