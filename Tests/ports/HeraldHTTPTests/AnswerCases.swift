import Testing

@testable import HeraldHTTP

/// Some bytes with their meaning.
struct AnswerCase: CustomTestStringConvertible, Sendable {
    let name: String
    let text: String
    let expected: ReadAnswer

    var testDescription: String { name }

    init(_ name: String, _ text: String, _ expected: ReadAnswer) {
        self.name = name
        self.text = text
        self.expected = expected
    }

    static let all = framings + interim + faults + limits

    private static let framings = [
        AnswerCase(
            "Content-Length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            .complete(status: 200, body: "hello", isReusable: true)),
        AnswerCase(
            "no body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            .complete(status: 200, body: "", isReusable: true)),
        AnswerCase(
            "chunks",
            "HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nA: b\r\n\r\n",
            .complete(status: 503, body: "hello", isReusable: true)),
        AnswerCase(
            "no length", "HTTP/1.1 400 Bad\r\n\r\nall of it",
            .complete(status: 400, body: "all of it", isReusable: false)),
        AnswerCase(
            "no length and no body", "HTTP/1.1 200 OK\r\n\r\n", .complete(status: 200, body: "", isReusable: false)),
        AnswerCase(
            "Connection: close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
            .complete(status: 200, body: "x", isReusable: false)),
        AnswerCase(
            "HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
            .complete(status: 200, body: "x", isReusable: false)),
        AnswerCase(
            "HTTP/1.0 that is kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx",
            .complete(status: 200, body: "x", isReusable: true)),
        AnswerCase(
            "204 with a length", "HTTP/1.1 204 No Content\r\nContent-Length: 10\r\n\r\n",
            .complete(status: 204, body: "", isReusable: false)),
        AnswerCase(
            "204 with a length of nothing", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
            .complete(status: 204, body: "", isReusable: true)),
        AnswerCase(
            "204 with chunks", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
            .complete(status: 204, body: "", isReusable: false)),
        AnswerCase(
            "304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n",
            .complete(status: 304, body: "", isReusable: false)),
        AnswerCase(
            "two lengths that are the same",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\ncontent-length: 1 \r\nContent-Length: 01\r\n\r\nx",
            .complete(status: 200, body: "x", isReusable: true)),
        AnswerCase(
            "length and chunks",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            .complete(status: 200, body: "hi", isReusable: false)),
        AnswerCase(
            "chunks and two lengths",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\nContent-Length: 9\r\n\r\n"
                + "2\r\nhi\r\n0\r\n\r\n",
            .complete(status: 200, body: "hi", isReusable: false)),
        AnswerCase(
            "a length behind another encoding",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nto the end",
            .complete(status: 200, body: "to the end", isReusable: false)),
        AnswerCase(
            "a redirect", "HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n",
            .complete(status: 302, body: "", isReusable: true)),
        AnswerCase(
            "bytes after the end", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n",
            .complete(status: 200, body: "x", isReusable: false)),
        AnswerCase(
            "no reason phrase, bare line feeds", "HTTP/1.1 200\nContent-Length: 1\n\nx",
            .complete(status: 200, body: "x", isReusable: true)),
    ]

    private static let interim = [
        AnswerCase(
            "100 Continue", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
            .complete(status: 200, body: "x", isReusable: true)),
        AnswerCase(
            "several interim answers with headers",
            "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early\r\nContent-Length: 9\r\n\r\nHTTP/1.1 429 No\r\nContent-Length: 0\r\n\r\n",
            .complete(status: 429, body: "", isReusable: false)),
        AnswerCase(
            "another protocol", "HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
            .broken(.protocolSwitch)),
        AnswerCase("only an interim answer", "HTTP/1.1 100 Continue\r\n\r\n", .unfinished),
    ]

    private static let faults = [
        AnswerCase("status 20", "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n", .broken(.statusOutOfRange)),
        AnswerCase("status 000", "HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n", .broken(.statusOutOfRange)),
        AnswerCase("status 600", "HTTP/1.1 600 OK\r\nContent-Length: 0\r\n\r\n", .broken(.statusOutOfRange)),
        AnswerCase("HTTP/9.9", "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n", .broken(.notHTTP1)),
        AnswerCase("HTTP/2", "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", .broken(.notHTTP1)),
        AnswerCase("garbage", "SSH-2.0-OpenSSH_9.2\r\n", .broken(.syntax(28))),
        AnswerCase("a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", .broken(.syntax(25))),
        AnswerCase(
            "two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
            .broken(.differentLengths)),
        AnswerCase(
            "a length with a sign", "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", .broken(.syntax(25))),
        AnswerCase(
            "a list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello", .broken(.syntax(25))),
        AnswerCase(
            "a chunk's size that is none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            .broken(.syntax(27))),
        AnswerCase("nothing", "", .unfinished),
        AnswerCase("half a status line", "HTTP/1.1 200", .unfinished),
        AnswerCase("half the headers", "HTTP/1.1 200 OK\r\nContent-Le", .unfinished),
        AnswerCase("half a body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", .unfinished),
        AnswerCase("half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", .unfinished),
        AnswerCase(
            "no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", .unfinished),
    ]

    private static let limits: [AnswerCase] = {
        let start = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: "
        let fitting = AnswerReader.headerLimit - start.utf8.count - 4
        let kept = String(repeating: "b", count: AnswerReader.bodyLimit)
        return [
            AnswerCase(
                "headers that just fit", start + String(repeating: "a", count: fitting) + "\r\n\r\n",
                .complete(status: 200, body: "", isReusable: true)),
            AnswerCase(
                "headers one byte too large", start + String(repeating: "a", count: fitting + 1) + "\r\n\r\n",
                .broken(.headersTooLarge)),
            AnswerCase(
                "interim answers without end", String(repeating: "HTTP/1.1 100 Go\r\n\r\n", count: 4_000),
                .broken(.headersTooLarge)),
            AnswerCase(
                "a body that just fits", "HTTP/1.1 500 No\r\nContent-Length: \(kept.utf8.count)\r\n\r\n" + kept,
                .complete(status: 500, body: kept, isReusable: true)),
            AnswerCase(
                "a body one byte too large",
                "HTTP/1.1 500 No\r\nContent-Length: \(kept.utf8.count + 1)\r\n\r\n\(kept)x",
                .complete(status: 500, body: kept, isReusable: false)),
            AnswerCase(
                "a body without end", "HTTP/1.1 200 OK\r\n\r\n" + kept + kept,
                .complete(status: 200, body: kept, isReusable: false)),
        ]
    }()
}
