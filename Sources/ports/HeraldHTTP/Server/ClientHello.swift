/// What is asked of the first message of a TLS handshake: whether its client offers HTTP/2 (ALPN, RFC 7301).
///
/// It is looked at before anything is taken from the socket, so that it may still go to another TLS library.
enum ClientHello {
    private static let handshakeRecord: UInt8 = 22
    private static let clientHello: UInt8 = 1
    private static let alpnExtension = 16

    /// `nil` when more of the message has to come first; what is no such message offers nothing.
    static func offersHTTP2(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        guard let message = message(in: bytes) else { return nil }
        var hello = ByteCursor(message[...])
        // Version and random; session, cipher suites, compression methods; extensions.
        guard hello.skip(2 + 32), hello.block(1) != nil, hello.block(2) != nil, hello.block(1) != nil,
            var extensions = hello.block(2).map(ByteCursor.init)
        else { return false }
        while let kind = extensions.number(2), let content = extensions.block(2) {
            guard kind == alpnExtension else { continue }
            var list = ByteCursor(content)
            guard var names = list.block(2).map(ByteCursor.init) else { return false }
            while let name = names.block(1) { if name.elementsEqual("h2".utf8) { return true } }
            return false
        }
        return false
    }

    /// The ClientHello without its head, joined from its records; empty when it is none, `nil` when it is not all there.
    private static func message(in bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var records = ByteCursor(Array(bytes)[...])
        var joined: [UInt8] = []
        var length: Int?
        while true {
            guard let kind = records.number(1) else { return nil }
            guard kind == Int(handshakeRecord) else { return [] }
            guard records.skip(2), let record = records.number(2).map({ records.prefix($0) }) else { return nil }
            joined += record
            if length == nil, joined.count >= 4 {
                guard joined[0] == clientHello else { return [] }
                length = 4 + joined[1..<4].reduce(0) { $0 << 8 | Int($1) }
            }
            if let length, joined.count >= length { return Array(joined[4..<length]) }
        }
    }
}

/// Reads numbers and blocks with their length in front, as TLS writes them.
private struct ByteCursor {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func skip(_ count: Int) -> Bool {
        guard rest.count >= count else { return false }
        rest = rest.dropFirst(count)
        return true
    }

    /// A number of so many bytes.
    mutating func number(_ count: Int) -> Int? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
    }

    /// The bytes behind a length of so many bytes.
    mutating func block(_ lengthBytes: Int) -> ArraySlice<UInt8>? {
        guard let count = number(lengthBytes), rest.count >= count else { return nil }
        return prefix(count)
    }

    /// So many bytes, or as many as there are.
    mutating func prefix(_ count: Int) -> ArraySlice<UInt8> {
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
