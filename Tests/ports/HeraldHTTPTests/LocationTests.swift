import Testing

@testable import HeraldHTTP

@Suite("An answer's Location")
struct LocationTests {
    private func read(_ text: String, keepsLocation: Bool, piece: Int) -> (location: String, retryAfter: String) {
        let reader = AnswerReader(keepsLocation: keepsLocation)
        for _ in 0..<2 {
            reader.begin(keepsBody: false)
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: piece) {
                bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes { _ = reader.feed($0) }
            }
        }
        return (String(decoding: reader.location, as: UTF8.self), String(decoding: reader.retryAfter, as: UTF8.self))
    }

    @Test("is kept on request, however the bytes arrive; the first of several counts", arguments: [1, 2, 7, 1_000])
    func kept(piece: Int) {
        let text =
            "HTTP/1.1 201 Created\r\nLast-Modified: x\r\nRetry-After: 3\r\nLOCATION: https://h/m/1\r\nLoc: y\r\n"
            + "Location: https://h/m/2\r\nLocations: z\r\nRetry-After: 4\r\nContent-Length: 0\r\n\r\n"
        #expect(read(text, keepsLocation: true, piece: piece) == ("https://h/m/1", "3"))
        #expect(read(text, keepsLocation: false, piece: piece) == ("", "3"))
    }

    @Test("is the answer's own, not the former one's or an interim answer's")
    func forgotten() {
        let text = "HTTP/1.1 103 Early\r\nLocation: early\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
        #expect(read(text, keepsLocation: true, piece: 5) == ("", ""))
    }

    @Test("of any length takes bounded memory")
    func bounded() {
        let long = String(repeating: "x", count: 10_000)
        let text = "HTTP/1.1 201 Created\r\nLocation: \(long)\r\nContent-Length: 0\r\n\r\n"
        #expect(read(text, keepsLocation: true, piece: 999).location.count == AnswerReader.locationLimit)
    }
}
