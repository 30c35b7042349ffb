import Foundation
import TestSupport
import Testing

@Suite("herald console, as a process", .realTime, .disabled(if: ThreadSanitizer.isActive, "librdkafka crashes it"))
struct ConsoleCommandTests {
    /// An address where no broker listens.
    private static let away = ["--kafka-bootstrap-servers", "127.0.0.1:1"]

    @Test("It prints a link that signs in once, prints the next one, is read-only, and ends with 0 on SIGTERM")
    func link() async throws {
        let log = FileManager.default.temporaryDirectory.appending(path: "herald-console-\(UUID()).log")
        defer { try? FileManager.default.removeItem(at: log) }
        let program = Bundle.main.bundleURL.appending(path: "herald").path
        let console = try ChildProcess([program, "console", "--listen", "127.0.0.1:0"] + Self.away, output: log)
        defer { console.kill() }
        func links() -> [Substring] {
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            return text.split { " \n".contains($0) }.filter { $0.hasPrefix("http://127.0.0.1:") }
        }
        #expect(try await eventually { links().count == 1 })
        let link = try #require(links().first.flatMap { URL(string: String($0)) })
        let port = UInt16(try #require(link.port))
        let key = try #require(link.fragment?.split(separator: "=").last)
        let answer = try PlainHTTP.request(
            port: port, "POST", "/api/session", headers: ["Origin": "http://127.0.0.1"], body: #"{"key":"\#(key)"}"#)
        #expect(answer.status == 200)
        #expect(answer.text.contains(#""role":"operator","canChange":false"#))
        #expect(try await eventually { links().count == 2 })
        #expect(links()[1] != links()[0])
        #expect(try PlainHTTP.request(port: port, "GET", "/").text.contains("<title>Herald</title>"))
        console.signal(SIGTERM)
        #expect(try await Blocking.run { console.wait() } == 0)
    }

    @Test("With a file of tokens it prints a link only on request")
    func noLink() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "herald-console-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (tokens, log) = (folder.appending(path: "tokens"), folder.appending(path: "log"))
        try Data("viewer bob abcdefghijabcdefghij\n".utf8).write(to: tokens)
        let program = Bundle.main.bundleURL.appending(path: "herald").path
        for (words, sentence) in [([], "people sign in with their token"), (["--link"], "/#key=")] {
            let console = try ChildProcess(
                [program, "console", "--listen", "127.0.0.1:0", "--console-token-file", tokens.path] + words
                    + Self.away,
                output: log)
            defer { console.kill() }
            var text = ""
            let isServing = try await eventually {
                text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
                return text.contains(sentence)
            }
            #expect(isServing && text.contains("#key=") == (words == ["--link"]), "\(text)")
        }
    }

    @Test(
        "Settings it cannot serve are refused before the start, with the setting and the fix",
        arguments: [
            (["--listen", "0.0.0.0:0"], "console.tokenFile: is missing, and console.listen (0.0.0.0:0) is open"),
            (["--listen", "off"], "console.listen: off serves nobody"),
            (["--listen", "somewhere"], "--console-listen: \"somewhere\" is not an address"),
            (["--console-token-file", "/nowhere"], "console.tokenFile"),
            (["--console-trusted-proxies", "10.0.0.0/40"], "console.trustedProxies: \"10.0.0.0/40\" is neither"),
            (["--console-token-file", #filePath], "console.tokenFile: line 1: a line has three words: ROLE NAME"),
        ])
    func mistakes(words: [String], sentence: String) async throws {
        let run = try await HeraldProgram.run(["console"] + words + Self.away)
        #expect(run.status == 78)
        #expect(run.error.contains(sentence), "\(run.error)")
    }
}
