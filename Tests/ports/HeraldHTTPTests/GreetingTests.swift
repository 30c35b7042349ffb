import TestSupport
import Testing

@testable import HeraldHTTP

@Suite("What a client's first bytes say")
struct GreetingTests {
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private static func greeting(_ bytes: [UInt8], isEncrypted: Bool) -> Greeting {
        bytes.withUnsafeBytes { Greeting($0, isEncrypted: isEncrypted) }
    }

    private static func block(_ lengthBytes: Int, _ bytes: [UInt8]) -> [UInt8] {
        (0..<lengthBytes).reversed().map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) } + bytes
    }

    /// A ClientHello (RFC 8446, 4.1.2) that offers these protocols behind another extension; `nil`: none at all.
    private static func hello(_ protocols: [String]?) -> [UInt8] {
        var extensions: [UInt8] = [0, 23] + block(2, [])
        if let protocols {
            extensions += [0, 16] + block(2, block(2, protocols.flatMap { block(1, Array($0.utf8)) }))
        }
        let random = [UInt8](repeating: 7, count: 32)
        let content =
            [3, 3] + random + block(1, [1, 2, 3]) + block(2, [0x13, 1]) + block(1, [0]) + block(2, extensions)
        return [1] + block(3, content)
    }

    private static func record(_ content: some Sequence<UInt8>) -> [UInt8] { [22, 3, 1] + block(2, Array(content)) }

    @Test("Without TLS only the whole preface is HTTP/2, and what differs from it is decided at once")
    func plain() {
        for count in 0..<Self.preface.count {
            let beginning = Array(Self.preface.prefix(count))
            #expect(Self.greeting(beginning, isEncrypted: false) == .undecided)
            #expect(Self.greeting(beginning + [0], isEncrypted: false) == .http1)
        }
        #expect(Self.greeting(Self.preface + [0, 0], isEncrypted: false) == .http2)
        #expect(Self.greeting(Array("POST / HTTP/1.1\r\n".utf8), isEncrypted: false) == .http1)
    }

    @Test(
        "With TLS the ClientHello's offer decides, when all of it is there",
        arguments: [(["h2", "http/1.1"], true), (["http/1.1"], false), (["h2c", "xh2"], false), (nil, false)])
    func encrypted(protocols: [String]?, isHTTP2: Bool) {
        let hello = Self.hello(protocols)
        let bytes = Self.record(hello)
        for count in 0..<bytes.count {
            #expect(Self.greeting(Array(bytes.prefix(count)), isEncrypted: true) == .undecided)
        }
        #expect(Self.greeting(bytes, isEncrypted: true) == (isHTTP2 ? .http2 : .http1))
        let split = Self.record(hello.prefix(3)) + Self.record(hello[3..<40]) + Self.record(hello[40...])
        #expect(Self.greeting(split, isEncrypted: true) == (isHTTP2 ? .http2 : .http1))
    }

    @Test("What OpenSSL's client offers is read, too")
    func openSSL() throws {
        #expect(try Self.greeting(TLSClientHello.bytes(offering: ["http/1.1", "h2"]), isEncrypted: true) == .http2)
        #expect(try Self.greeting(TLSClientHello.bytes(offering: ["http/1.1"]), isEncrypted: true) == .http1)
    }

    @Test("What is no ClientHello, or one whose lengths lie, goes where HTTP/1.1 does")
    func broken() {
        let hello = Self.hello(["h2"])
        for place in hello.indices.dropFirst(4) {
            var lying = hello
            lying[place] = 255
            #expect(Self.greeting(Self.record(lying), isEncrypted: true) != .undecided)
        }
        #expect(Self.greeting(Array("GET / HTTP/1.1\r\n\r\n".utf8), isEncrypted: true) == .http1)
        #expect(Self.greeting(Self.record([2, 0, 0, 0]), isEncrypted: true) == .http1)
        let endless = [UInt8](repeating: 0, count: Greeting.limitBytes)
        #expect(Self.greeting(Self.record([1, 255, 255, 255] + endless), isEncrypted: true) == .http1)
        #expect(Self.greeting(Self.preface, isEncrypted: true) == .http1)
    }
}
