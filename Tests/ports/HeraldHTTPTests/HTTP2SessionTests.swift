import CNGHTTP2
import Foundation
import TestSupport
import Testing

@testable import HeraldHTTP

@Suite("The session over HTTP/2")
struct HTTP2SessionTests {
    @Test("For any bytes of the other side, however split: each call ends at most once, within its limits")
    func corpus() throws {
        let folder = Repository.root.appending(path: "Tests/Fuzz/corpus/http2-session")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.count >= 15)
        for name in names {
            let input = Array(try Data(contentsOf: folder.appending(path: name)))
            for count in Set([input.count] + (0...min(input.count, 60))) {
                #expect(HTTP2SessionProperties.brokenProperty(Array(input.prefix(count))) == nil, "\(name), \(count)")
            }
        }
    }

    @Test("A malformed request is not accepted")
    func noRequest() throws {
        let session = try #require(HTTP2Session(isEncrypted: true, keepsLocation: false))
        let line = "GET / HTTP/1.1\r\n"
        for text in ["", "GET", "GET /", line, "\(line)Host\r\n\r\n", "\(line)A:\r\n"] {
            let isTaken = Array(text.utf8).withUnsafeBytes { session.submit(call: 1, $0, keepsBody: false) }
            #expect(!isTaken, "\(text)")
        }
    }

    @Test("Names become lower case, the host the authority, and pseudo-headers come first")
    func fields() throws {
        var request = HTTP2Request(isEncrypted: true)
        let text = "PUT /a?b=c HTTP/1.1\r\nX-First: 1\r\nHost: example.org:8443\r\nAuthorization: Basic x\r\n\r\nbody"
        let start = Array(text.utf8).withUnsafeBytes { request.read($0) }
        #expect(start == text.utf8.count - 4)
        let fields = request.fields.map { field in
            [(field.name, field.namelen), (field.value, field.valuelen)].map {
                String(decoding: UnsafeBufferPointer(start: $0.0, count: $0.1), as: UTF8.self)
            }.joined(separator: "=")
        }
        #expect(
            fields == [
                ":method=PUT", ":scheme=https", ":authority=example.org:8443", ":path=/a?b=c", "x-first=1",
                "authorization=Basic x",
            ])
    }
}
