import Dispatch
import Foundation
import HeraldHTTP
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@Suite("Posting a form, and hostile answers to it")
struct SingleRequestTests {
    private func post(
        _ server: ScriptedServer, timeout: Milliseconds = .seconds(20), proxy: ProxyAddress? = nil,
        tls: TLSFiles? = nil,
        url: String? = nil, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> SingleRequest.Outcome {
        SingleRequest(
            .post(form: Array("a=b&c=%20".utf8)), url: url ?? server.origin + "/token", authorization: "Basic eDp5",
            timeout: timeout, proxy: proxy,
            tls: try tls ?? TLSFiles(caFile: TestCertificates.shared().authorityFile)
        ).perform(isCancelled: isCancelled)
    }

    private func kind(_ answer: SingleRequest.Outcome) -> FailureKind? {
        if case .failure(let kind, _) = answer { kind } else { nil }
    }

    @Test("The request is one POST with the form and nothing of its own", arguments: [Wire.plainAtOnce, .tlsAtOnce])
    func request(wire: Wire) throws {
        let seen = Guarded("")
        let server = try wire.server { peer in
            let request = try peer.readRequest()
            seen.withLock { $0 = request }
            try peer.write("HTTP/1.1 429 Wait\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nwait")
        }
        defer { server.stop() }
        #expect(try post(server) == .response(.init(status: 429, retryAfterSeconds: 7, body: Array("wait".utf8))))
        #expect(
            seen.withLock { $0 }
                == "POST /token HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
                + "Content-Type: application/x-www-form-urlencoded\r\nAccept: application/json\r\n"
                + "User-Agent: herald\r\nAuthorization: Basic eDp5\r\nContent-Length: 9\r\n\r\na=b&c=%20")
    }

    @Test(
        "An invalid response is never taken for an answer", arguments: [Wire.plainAtOnce, .tlsAtOnce],
        [
            "", "garbage\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 000 OK\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\ncut", "HTTP/1.1 200 O",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ncut",
        ])
    func noAnswer(wire: Wire, answer: String) throws {
        let server = try wire.server { peer in
            _ = try peer.readRequest()
            try peer.write(answer)
        }
        defer { server.stop() }
        let outcome = try post(server)
        #expect(kind(outcome) == .brokenHTTP || kind(outcome) == .connectionReset, "\(outcome)")
    }

    @Test("A redirect is an answer and not followed, and nothing is decompressed")
    func redirect() throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write(
                "HTTP/1.1 307 Away\r\nLocation: /other\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nnot")
            peer.readToEnd()
        }
        defer { server.stop() }
        #expect(try post(server) == .response(.init(status: 307, retryAfterSeconds: 0, body: Array("not".utf8))))
        #expect(server.acceptedCount == 1)
    }

    @Test(
        "Any method is sent with its body, or with the length 0 where a server asks for it",
        arguments: [
            (
                .other("PUT", Array("<a/>".utf8), mediaType: "application/xml"), "PUT", "Content-Type: application/xml",
                "4"
            ),
            (.other("POST"), "POST", nil, "0"), (.other("DELETE"), "DELETE", nil, nil),
        ] as [(SingleRequest.Method, String, String?, String?)])
    func anyMethod(method: SingleRequest.Method, name: String, type: String?, length: String?) throws {
        let seen = Guarded("")
        let server = try ScriptedServer { peer in
            let request = try peer.readRequest()
            seen.withLock { $0 = request }
            try peer.write("HTTP/1.1 204 Done\r\n\r\n")
        }
        defer { server.stop() }
        let outcome = SingleRequest(
            method, url: server.origin + "/thing?a=b", authorization: nil,
            headers: [SingleRequest.Header(name: "If-Match", value: "*")], timeout: .seconds(20), proxy: nil,
            tls: TLSFiles()
        ).perform()
        #expect(outcome == .response(.init(status: 204)))
        let lines = [
            "\(name) /thing?a=b HTTP/1.1", "Host: 127.0.0.1:\(server.port)", "Accept: */*", type, "User-Agent: herald",
            "If-Match: *", length.map { "Content-Length: \($0)" },
        ].compactMap { $0 }
        #expect(
            seen.withLock { $0 } == lines.map { $0 + "\r\n" }.joined() + "\r\n" + (type == nil ? "" : "<a/>"))
    }

    @Test("Only the requested headers of the answer are kept, under the requested names")
    func wantedHeaders() throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 201 Made\r\nlocation: /a/1?b\r\nX-Other: no\r\nContent-Length: 0\r\n\r\n")
        }
        defer { server.stop() }
        let outcome = SingleRequest(
            .other("POST"), url: server.origin, authorization: nil, wantedHeaders: ["Location", "X-Absent"],
            timeout: .seconds(20), proxy: nil, tls: TLSFiles()
        ).perform()
        #expect(outcome == .response(.init(status: 201, headers: ["Location": "/a/1?b"])))
    }

    @Test("An endless body and a flood of headers are cut off", arguments: ["", "X-Flood: "])
    func floods(line: String) throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 OK\r\n\(line.isEmpty ? "\r\n" : "")")
            while true { try peer.write("\(line)\(String(repeating: "x", count: 1_000))\r\n") }
        }
        defer { server.stop() }
        let outcome = try post(server)
        #expect(outcome == .failure(.brokenHTTP, detail: "the answer is larger than 64 KiB"), "\(outcome)")
    }

    @Test(
        "One deadline covers everything: an answer that never comes, or comes byte by byte", arguments: [true, false])
    func deadline(isDripping: Bool) throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            while isDripping {
                try peer.write("H")
                usleep(5_000)
            }
            peer.readToEnd()
        }
        defer { server.stop() }
        let outcome = try post(server, timeout: .milliseconds(300))
        #expect(kind(outcome) == (isDripping ? .brokenHTTP : .timeout) || kind(outcome) == .timeout, "\(outcome)")
    }

    @Test("A cancelled request ends long before its deadline")
    func cancelled() throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            peer.readToEnd()
        }
        defer { server.stop() }
        #expect(kind(try post(server, timeout: .minutes(10), isCancelled: { true })) != nil)
    }

    @Test("An endpoint with a wrong identity gets no request", arguments: ReachingTests.BadCertificate.allCases)
    func badCertificates(bad: ReachingTests.BadCertificate) throws {
        let certificates = try TestCertificates.shared()
        let isAsked = Guarded(false)
        let identity =
            switch bad {
            case .wrongHost: certificates.wrongHost
            case .expired: certificates.expired
            case .unknownAuthority: certificates.ofUnknownAuthority
            }
        let server = try ScriptedServer(tls: identity) { peer in
            _ = try peer.readRequest()
            isAsked.withLock { $0 = true }
        }
        defer { server.stop() }
        #expect(kind(try post(server)) == .tls)
        server.stop()
        #expect(!isAsked.withLock { $0 })
    }

    @Test(
        "A client certificate is sent when there is one, and a TLS failure when it is refused",
        arguments: [true, false])
    func clientCertificate(isShown: Bool) throws {
        let certificates = try TestCertificates.shared()
        var identity = certificates.good
        identity.clientAuthorityFile = certificates.authorityFile
        let server = try ScriptedServer(tls: identity) { peer in
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        defer { server.stop() }
        var tls = TLSFiles(caFile: certificates.authorityFile)
        if isShown {
            tls.certificateFile = certificates.client.certificateFile
            tls.keyFile = certificates.client.keyFile
        }
        let outcome = try post(server, tls: tls)
        if isShown {
            #expect(outcome == .response(.init(status: 200, retryAfterSeconds: 0, body: [])))
        } else {
            #expect(kind(outcome) == .tls, "\(outcome)")
        }
    }

    @Test("A closed port and an unknown name are distinguished")
    func unreachable() throws {
        let server = try ScriptedServer { _ in }
        server.stop()
        #expect(
            kind(try post(server, url: "http://127.0.0.1:\(try LoopbackSocket.unusedPort())/")) == .connectionRefused)
        #expect(kind(try post(server, timeout: .minutes(1), url: "http://no-such-host.invalid/")) == .nameNotFound)
    }

    @Test("A proxy gets its own user, and its refusal is distinguished from the endpoint's", arguments: [200, 407])
    func proxy(status: Int) throws {
        let seen = Guarded("")
        let proxy = try ScriptedServer { peer in
            let connect = try peer.readRequest()
            seen.withLock { $0 = connect }
            try peer.write("HTTP/1.1 \(status) X\r\n\(status == 407 ? "Content-Length: 0\r\n" : "")\r\n")
            _ = try peer.readRequest()
            try peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        defer { proxy.stop() }
        let address = ProxyAddress("http://alice@127.0.0.1:\(proxy.port)", password: "p:w %40")
        let outcome = try post(proxy, proxy: address, url: "http://login.invalid/token")
        if status == 200 {
            #expect(outcome == .response(.init(status: 200, retryAfterSeconds: 0, body: Array("ok".utf8))))
        } else {
            #expect(kind(outcome) == .proxyRefused, "\(outcome)")
        }
        let connect = seen.withLock { $0 }
        #expect(connect.hasPrefix("CONNECT login.invalid:80 HTTP/1.1\r\n"))
        // alice:p:w %40
        #expect(connect.contains("\r\nProxy-Authorization: Basic YWxpY2U6cDp3ICU0MA==\r\n"))
    }
}
