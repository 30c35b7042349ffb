import Foundation
import HeraldHTTP
import HeraldSandbox
import HeraldThreads
import TestSupport
import Testing

@Suite("The sandbox over HTTP/2")
struct HTTP2SandboxTests {
    private static let fields = [("authorization", SandboxClient.basic("ann", "ann"))]

    private static func call(_ client: HTTP2Client, _ stream: UInt32, _ user: String, key: String? = nil) throws {
        let fields = Self.fields + (key.map { [("idempotency-key", $0)] } ?? [])
        try client.peer.call(stream, "POST", "/api/notifications?pns=gcm&to_tag=\(user)", fields, body: #""hi""#)
    }

    @Test("each rule of misbehaviour is that of the call's stream, and the others on its connection go on")
    func misbehaviour() async throws {
        let (backend, ann) = try SandboxClient.start {
            $0.misbehaviour = [
                .status(503) {
                    $0.user = "flaky"
                    $0.callsPerKey = 1
                    $0.retryAfter = "7"
                },
                .hangUp { $0.user = "cut" }, .hang { $0.user = "hang" }, .hold { $0.user = "held" },
                .latency(milliseconds: 20...20) { $0.user = "late" },
            ]
        }
        try ann.register("gcm", "h")
        let client = try HTTP2Client(port: backend.port)
        for (number, user) in ["hang", "held", "cut"].enumerated() {
            try Self.call(client, UInt32(2 * number + 1), user)
        }
        #expect(try client.readReset(5) == .internalError)
        #expect(backend.heldCount == 1)
        try Self.call(client, 7, "flaky", key: "a")
        let refused = try client.peer.readCall()
        #expect(refused.status == 503 && refused["retry-after"] == "7")
        for (stream, user) in [(9, "flaky"), (11, "late"), (13, "ann")] as [(UInt32, String)] {
            try Self.call(client, stream, user, key: "a")
            #expect(try client.peer.readCall().status == 200)
        }
        backend.release(1)
        let held = try client.peer.readCall()
        #expect(held.stream == 3 && held.status == 200)
        #expect(backend.calls.map(\.status) == [nil, 200, nil, 503, 200, 200, 200])
        #expect(backend.payloads(ofHandle: "h").count == 1)
        backend.stop()
        #expect(try client.readGoAway().code == HTTP2Peer.Code.none)
    }

    @Test("curl gets the same answer by either version on one port", arguments: [false, true])
    func curl(isEncrypted: Bool) async throws {
        guard let program = HTTP2Server.path("curl", package: "curl") else { return }
        let folder = FileManager.default.temporaryDirectory.appending(path: "herald-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let authority = folder.appending(path: "authority.pem").path
        let identity = try LocalIdentity()
        try identity.writeAuthority(to: authority)
        let (backend, _) = try SandboxClient.start { if isEncrypted { $0.server.identity = identity } }
        defer { backend.stop() }
        let cases = [("--http1.1", "1.1"), (isEncrypted ? "--http2" : "--http2-prior-knowledge", "2")]
        for (option, version) in cases {
            let output = folder.appending(path: version)
            let process = try ChildProcess(
                [
                    program, "--silent", "--show-error", "--disable", "--noproxy", "*", "--cacert", authority, option,
                    "--user", "ann:ann", "--json", #""hi""#, "--write-out", "%{http_code} %{http_version}",
                    "\(backend.url)/api/notifications?pns=gcm&to_tag=user-\(version)",
                ], output: output)
            let status = try await Blocking.run { process.wait() }
            let text = try String(contentsOf: output, encoding: .utf8)
            #expect(status == 0 && text.hasSuffix("200 \(version)"), "\(text)")
        }
        #expect(backend.calls.map(\.user) == ["user-1.1", "user-2"])
    }

    @Test(
        "Herald's own client speaks HTTP/2 with the emulated hub where it may, and HTTP/1.1 where not",
        arguments: [HTTPVersions.http1, .agreed, .http2])
    func hub(versions: HTTPVersions) throws {
        let caller = try HubCaller.start()
        let outcome = SingleRequest(
            .get, url: "\(caller.emulator.url)/sandbox/calls", authorization: nil,
            timeout: Patience.timeout, proxy: nil, tls: TLSFiles(caFile: caller.emulator.caFile),
            versions: versions
        ).perform()
        guard case .response(let response) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(response.isHTTP2 == (versions != .http1))
    }
}
