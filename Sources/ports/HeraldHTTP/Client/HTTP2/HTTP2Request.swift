internal import CNGHTTP2
internal import Glibc

/// Turns a request written for HTTP/1.1 into the header fields of HTTP/2; its memory is reused.
///
/// Requests are our own, well-formed and with one space where one is allowed. So they are written in one way for any
/// connection.
struct HTTP2Request: ~Copyable {
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let space = UInt8(ascii: " ")
    private static let colon = UInt8(ascii: ":")
    /// Names of pseudo-headers, for as long as the process lives.
    private static let (method, scheme, authority, path): (StaticString, StaticString, StaticString, StaticString) =
        (":method", ":scheme", ":authority", ":path")
    /// Values that no table may keep, neither ours nor an intermediary's: secrets, and values that never recur (RFC
    /// 7541, 7.1.3).
    private static let unindexed: [StaticString] = [
        "authorization", "proxy-authorization", "cookie", "idempotency-key", "traceparent", "tracestate",
    ]

    private let schemeValue: StaticString
    /// A copy of the head, its names in small letters; the fields point into it.
    private var head: UnsafeMutableBufferPointer<UInt8>
    private(set) var fields: [nghttp2_nv] = []

    init(isEncrypted: Bool) {
        schemeValue = isEncrypted ? "https" : "http"
        head = .allocate(capacity: 4_096)
    }

    deinit {
        head.deallocate()
    }

    /// Reads the head, and returns the start of the body; `nil` for an invalid request.
    ///
    /// The fields are valid until the next call.
    mutating func read(_ request: UnsafeRawBufferPointer) -> Int? {
        fields.removeAll(keepingCapacity: true)
        if request.count > head.count {
            head.deallocate()
            head = .allocate(capacity: request.count)
        }
        guard let start = request.baseAddress, let base = head.baseAddress else { return nil }
        UnsafeMutableRawPointer(base).copyMemory(from: start, byteCount: request.count)
        guard let methodEnd = index(of: Self.space, from: 0, to: request.count),
            let pathEnd = index(of: Self.space, from: methodEnd + 1, to: request.count),
            let lineEnd = index(of: Self.carriageReturn, from: pathEnd, to: request.count)
        else { return nil }
        let scheme = UnsafeMutablePointer(mutating: schemeValue.utf8Start)
        fields.append(Self.field(Self.method, base, methodEnd))
        fields.append(Self.field(Self.scheme, scheme, schemeValue.utf8CodeUnitCount))
        let authorityPlace = fields.count
        fields.append(Self.field(Self.path, base + methodEnd + 1, pathEnd - methodEnd - 1))
        var place = lineEnd + 2
        while place < request.count, base[place] != Self.carriageReturn {
            guard let nameEnd = index(of: Self.colon, from: place, to: request.count),
                let end = index(of: Self.carriageReturn, from: nameEnd, to: request.count), end >= nameEnd + 2
            else { return nil }
            for letter in place..<nameEnd where (65...90).contains(base[letter]) { base[letter] |= 0x20 }
            let (value, valueCount) = (base + nameEnd + 2, end - nameEnd - 2)
            if Self.isEqual(base + place, nameEnd - place, "host") {
                // It precedes every field that is not HTTP's own.
                fields.insert(Self.field(Self.authority, value, valueCount), at: authorityPlace)
            } else {
                let isUnindexed = Self.unindexed.contains { Self.isEqual(base + place, nameEnd - place, $0) }
                fields.append(
                    nghttp2_nv(
                        name: base + place, value: value, namelen: nameEnd - place, valuelen: valueCount,
                        flags: UInt8(isUnindexed ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : 0)))
            }
            place = end + 2
        }
        return place + 2 <= request.count ? place + 2 : nil
    }

    private static func field(
        _ name: StaticString, _ value: UnsafeMutablePointer<UInt8>, _ count: Int
    ) -> nghttp2_nv {
        nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.utf8Start), value: value, namelen: name.utf8CodeUnitCount,
            valuelen: count, flags: 0)
    }

    private func index(of byte: UInt8, from start: Int, to end: Int) -> Int? {
        guard let base = head.baseAddress, start < end, let found = memchr(base + start, Int32(byte), end - start)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    private static func isEqual(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ name: StaticString) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        for place in 0..<count where bytes[place] != name.utf8Start[place] { return false }
        return true
    }
}
