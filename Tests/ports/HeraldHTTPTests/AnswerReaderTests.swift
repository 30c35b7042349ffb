import Foundation
import TestSupport
import Testing

@testable import HeraldHTTP

@Suite("Reading answers")
struct AnswerReaderTests {
    @Test("An answer means the same however its bytes are split", arguments: AnswerCase.all)
    func splits(answer: AnswerCase) {
        let bytes = Array(answer.text.utf8)
        #expect(ReadAnswer.reading(bytes) { _ in bytes.count } == answer.expected)
        #expect(ReadAnswer.reading(bytes) { _ in 1 } == answer.expected)
        for seed in 1...8 {
            #expect(ReadAnswer.reading(bytes) { ($0 * 7_919 + seed * 104_729) % 61 } == answer.expected)
        }
    }

    @Test("An answer means the same after any other answer", arguments: AnswerCase.all)
    func memo(answer: AnswerCase) {
        for before in AnswerCase.all {
            #expect(ReadAnswer.meansTheSameAgain(Array(answer.text.utf8), after: Array(before.text.utf8)))
        }
    }

    @Test("An answer is recognised if it came whole, its connection stays, and its status says it all")
    func learning() {
        let good = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8)
        let others = [
            "HTTP/1.1 429 No\r\nContent-Length: 0\r\nRetry-After: 3\r\n\r\n",
            "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi!",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 1_024))\r\nContent-Length: 0\r\n\r\n",
        ]
        var memo = ResponseMemo()
        _ = ReadAnswer.reading(good, memo: &memo)
        #expect(good.withUnsafeBytes { memo.hasBytes($0) } && memo.status == 200)
        for other in others {
            _ = ReadAnswer.reading(Array(other.utf8), memo: &memo)
            #expect(!Array(other.utf8).withUnsafeBytes { memo.hasBytes($0) })
            #expect(good.withUnsafeBytes { memo.hasBytes($0) })
        }
        #expect(!ResponseMemo().hasBytes(UnsafeRawBufferPointer(start: nil, count: 0)))
    }

    @Test("The fuzzer's finds and seeds mean the same however they are split")
    func corpus() throws {
        let folder = Repository.root.appending(path: "Tests/Fuzz/corpus/answer-reader")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let broken = ReadAnswer.brokenProperty(Array(try Data(contentsOf: file)))
            #expect(broken == nil, "\(file.lastPathComponent)")
        }
    }

    @Test("A 2xx body is kept only on request, any other always")
    func keptBodies() {
        let good = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8)
        let bad = Array("HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nhi".utf8)
        #expect(
            ReadAnswer.reading(good, sizes: { _ in 99 }, keepsBody: false)
                == .complete(status: 200, body: "", isReusable: true))
        #expect(
            ReadAnswer.reading(bad, sizes: { _ in 99 }, keepsBody: false)
                == .complete(status: 404, body: "hi", isReusable: true))
    }

    @Test(
        "Retry-After is found in any case, the first of several, cut at 256 bytes",
        arguments: [1, 7, 9_999])
    func headers(size: Int) {
        let reader = AnswerReader()
        for value in ["120", String(repeating: "9", count: 300)] {
            let text =
                "HTTP/1.1 429 No\r\nRetry-Afte: 8\r\nX-Retry-After: 7\r\nretry-AFTER:  \(value) \r\nRetry-After: 5\r\n"
                + "Content-Length: 0\r\nRetry-After-: 9\r\n\r\n"
            reader.begin(keepsBody: false)
            var rest = Array(text.utf8)[...]
            var last = AnswerReader.Progress.incomplete
            while !rest.isEmpty {
                last = rest.prefix(size).withUnsafeBytes { reader.feed($0) }
                rest = rest.dropFirst(size)
            }
            #expect(last == .complete(isReusable: true))
            #expect(String(decoding: reader.retryAfter, as: UTF8.self).trimmingSuffix() == value.prefix(256))
        }
    }

    @Test("The status of an unfinished answer is known as soon as it has arrived", arguments: [1, 9_999])
    func fragments(size: Int) {
        let cases: [(String, String?)] = [
            ("HTTP/1.1 20", nil), ("HTTP/1.1 100 Go\r\n\r\n", nil), ("HTTP/1.1 999 No\r\n", nil),
            ("HTTP/1.1 200 OK\r\nContent-Le", "a 200 whose headers were cut off"),
            ("HTTP/1.1 503 No\r\nContent-Length: 10\r\n\r\nhello", "a 503 whose body was cut off"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "a 200 whose body was cut off"),
        ]
        let reader = AnswerReader()
        for (text, fragment) in cases {
            reader.begin(keepsBody: false)
            #expect(reader.fragment == nil)
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                _ = rest.prefix(size).withUnsafeBytes { reader.feed($0) }
                rest = rest.dropFirst(size)
            }
            #expect(reader.fragment == fragment && reader.end() == nil, "\(text)")
        }
    }

    @Test("The first Date of an error is kept, and of no other answer")
    func dates() {
        let reader = AnswerReader()
        for (status, expected) in [(200, ""), (503, "then")] {
            reader.begin(keepsBody: false)
            let text =
                "HTTP/1.1 \(status) X\r\nDat: a\r\nDATE: then\r\nDate: later\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
            _ = Array(text.utf8).withUnsafeBytes { reader.feed($0) }
            #expect(String(decoding: reader.date, as: UTF8.self) == expected && reader.retryAfter == [0x31])
        }
    }

    @Test("Headers of an interim answer and trailers do not count")
    func foreignHeaders() {
        let text =
            "HTTP/1.1 103 Early\r\nRetry-After: 1\r\n\r\nHTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "0\r\nRetry-After: 2\r\n\r\n"
        let reader = AnswerReader()
        reader.begin(keepsBody: false)
        let progress = Array(text.utf8).withUnsafeBytes { reader.feed($0) }
        #expect(progress == .complete(isReusable: true))
        #expect(reader.retryAfter.isEmpty)
    }

    @Test("A body in tiny chunks ends too")
    func tinyChunks() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let chunk = "1;" + String(repeating: "x", count: 1_000) + "\r\nb\r\n"
        let bytes = Array((head + String(repeating: chunk, count: 1_100)).utf8)
        let expected = ReadAnswer.reading(bytes) { _ in bytes.count }
        guard case .complete(let status, let body, let isReusable) = expected else {
            Issue.record("not complete: \(expected)")
            return
        }
        #expect(status == 200 && body.count > 1_000 && !isReusable)
        #expect(ReadAnswer.reading(bytes) { _ in 1 } == expected)
    }
}

extension String {
    fileprivate func trimmingSuffix() -> String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
