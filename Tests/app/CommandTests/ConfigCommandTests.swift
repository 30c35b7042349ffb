import Foundation
import HeraldCommandLine
import TestSupport
import Testing

@testable import herald

@Suite("The program's own commands, as a process", .realTime)
struct ConfigCommandTests {
    private func herald(
        _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> HeraldProgram.Run {
        try await HeraldProgram.run(arguments, environment: environment)
    }

    private func withFile<Value>(_ text: String, _ body: (String) async throws -> Value) async throws -> Value {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).yaml")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await body(file.path)
    }

    @Test("config show prints every value and its source, as data on standard output")
    func show() async throws {
        try await withFile("retry:\n  immediate: 4\n") { file in
            let run = try await herald(
                "config", "show", "--config", file, "--log-level", "debug", "-o", "jsonl",
                environment: ["HERALD_RETRY_REPLAYS": "7"])
            #expect(run.status == 0)
            #expect(run.error.isEmpty)
            for line in [
                #"{"setting":"retry.immediate","value":4,"from":"\#(file):2:14"}"#,
                #"{"setting":"retry.replays","value":7,"from":"environment HERALD_RETRY_REPLAYS"}"#,
                #"{"setting":"log.level","value":"debug","from":"flag --log-level"}"#,
                #"{"setting":"retry.maxElapsed","value":"24h","from":"default"}"#,
            ] {
                #expect(run.output.contains(line), "\(run.output)")
            }
        }
    }

    @Test("config show fits a hundred columns, and breaks longer values at commas")
    func width() async throws {
        try await withFile("topics: {requests: [{name: \(String(repeating: "n", count: 120))}]}\n") { file in
            let run = try await herald(
                "config", "show", "--config", file, "--backend-auth-client-authentication", "basic",
                environment: ["HERALD_KAFKA_PROPERTIES": "security.protocol=ssl"])
            let lines = run.output.split(separator: "\n")
            #expect(run.status == 0 && lines.allSatisfy { $0.count <= 100 }, "\(run.output)")
            #expect(lines.contains { $0.hasPrefix("kafka.properties") && $0.hasSuffix("  environment") })
            #expect(lines.contains { $0.hasPrefix("topics.requests") && $0.hasSuffix("  file:1:20") })
            #expect(lines.contains { $0.hasPrefix("backend.auth.clientAuthentication  basic ") })
            let index = try #require(lines.firstIndex { $0.hasPrefix("backend.statuses ") })
            #expect(lines[index].contains("  200-299=delivered,300-400=rejected, "))
            #expect(lines[index + 1].hasPrefix("      ") && lines[index + 1].contains("  401=credentials,"))
        }
    }

    @Test("config show prints the whole table of statuses in force")
    func statuses() async throws {
        let run = try await herald("config", "show", "-o", "jsonl", "--backend-statuses", "403=rejected,404=transient")
        #expect(
            run.output.contains(
                #"{"setting":"backend.statuses","value":{"200-299":"delivered","300-400":"rejected","401":"credentials","#
                    + #""402-403":"rejected","404":"transient","405-407":"rejected","408-409":"transient","#),
            "\(run.output)")
    }

    @Test("A secret is in no output of any format, valid or invalid")
    func canary() async throws {
        let yaml =
            "backend: {url: http://h.example, auth: {username: u, password: CANARY}}\nkafka: {bootstrapServers: [k]}\n"
        try await withFile(yaml) { file in
            for words in [["show"], ["show", "-o", "json"], ["show", "-o", "jsonl"], ["check"]] {
                let run = try await herald(
                    "config", words[0], words.count > 1 ? "-o" : "--quiet", words.count > 1 ? words[2] : "--no-color",
                    "--config", file, environment: ["HERALD_BACKEND_AUTH_TOKEN": "CANARY"])
                #expect(run.status == 0)
                #expect(!(run.output + run.error).contains("CANARY"))
                #expect(run.error.contains("warning: "))
            }
            let run = try await herald("config", "check", "--config", file, "--backend-auth-pasword=CANARY")
            #expect(run.status == 2)
            #expect(!run.error.contains("CANARY"))
        }
    }

    @Test("config check names all mistakes at once on standard error and ends with 78")
    func check() async throws {
        try await withFile("retry: {immediate: x}\nlog: {level: loud}\n") { file in
            let run = try await herald("config", "check", "--config", file)
            #expect(run.status == 78)
            #expect(run.output.isEmpty)
            #expect(
                run.error.contains("\(file):1:20: retry.immediate: \"x\" is not a whole number; allowed: 0 to 20\n"))
            #expect(run.error.contains("\(file):2:14: log.level: "))
            #expect(run.error.contains("backend.url: is missing"))
        }
    }

    @Test("An invalid client certificate for the brokers is a mistake of its own setting, named once")
    func brokerCertificate() async throws {
        try await withFile("no certificate\n") { noPEM in
            let yaml = """
                kafka:
                  bootstrapServers: 127.0.0.1:1
                  auth:
                    kind: certificate
                    certificateFile: \(noPEM)
                    keyFile: /no/such/key
                backend: {url: "https://h.example", auth: {kind: none}}
                """
            try await withFile(yaml) { file in
                let run = try await HeraldProgram.run(["config", "check", "--config", file])
                #expect(run.status == 78)
                let lines = run.error.split(separator: "\n").map(String.init)
                #expect(lines.count == 2)
                #expect(
                    lines.contains {
                        $0.contains(":5:22: kafka.auth.certificateFile: \"\(noPEM)\" holds no certificate in PEM")
                    })
                #expect(
                    lines.contains { $0.contains(":6:14: kafka.auth.keyFile: \"/no/such/key\" cannot be read") })
            }
        }
    }

    @Test("A longer session than a rebalance may take makes that as long")
    func longSession() async throws {
        let yaml = "kafka:\n  bootstrapServers: 127.0.0.1:1\n  properties: {session.timeout.ms: 400000}\n"
        try await withFile(yaml + "backend: {url: 'https://h.example', auth: {kind: none}}\n") { file in
            let run = try await HeraldProgram.run(["config", "check", "--config", file])
            #expect(run.status == 0, "\(run.error)")
        }
    }

    @Test(
        "Values that librdkafka or TLS would refuse end config check and a worker with 78, all at once",
        arguments: [["config", "check"], ["worker"]])
    func libraries(command: [String]) async throws {
        try await withFile("no certificate\n") { noPEM in
            let yaml = """
                kafka:
                  bootstrapServers: 127.0.0.1:1
                  properties:
                    security.protcol: SSL
                    security.protocol: SLS
                    group.id: mine
                    ssl.ca.location: \(noPEM)
                    ssl.key.location: /no/such/key
                    session.timeout.ms: 400000
                    max.poll.interval.ms: 300000
                    sasl.password: CANARY
                backend:
                  url: https://h.example
                  auth: {kind: none}
                  tls: {caFile: \(noPEM)}
                """
            try await withFile(yaml) { file in
                let run = try await HeraldProgram.run(command + ["--config", file])
                #expect(run.status == 78)
                let lines = run.error.split(separator: "\n").map(String.init)
                for (place, message) in [
                    ("4:5", #""security.protcol" is no property of librdkafka; did you mean security.protocol?"#),
                    ("5:5", #"security.protocol: "SLS" is not allowed; allowed: plaintext, ssl, sasl_plaintext, "#),
                    ("6:5", "group.id cannot be set here: "),
                    ("7:5", "ssl.ca.location: \"\(noPEM)\" holds no authorities in PEM"),
                    ("8:5", "ssl.key.location: \"/no/such/key\" cannot be read: No such file"),
                    ("10:5", "librdkafka refuses them: `max.poll.interval.ms`must be >= `session.timeout.ms`"),
                ] {
                    let expected = "\(file):\(place): kafka.properties: \(message)"
                    #expect(lines.contains { $0.hasPrefix(expected) }, "\(expected)\n\(run.error)")
                }
                #expect(lines.contains { $0.contains("backend.tls.caFile: \"\(noPEM)\" holds no authorities") })
                #expect(lines.count == 7 && !run.error.contains("CANARY"), "\(run.error)")
            }
        }
    }

    @Test("A misspelt property is always a mistake; a missing file only where it is needed")
    func misspelt() async throws {
        let environment = ["HERALD_KAFKA_PROPERTIES": "ssl.ca.locatoin=x", "HERALD_BACKEND_TLS_CA_FILE": "/no/such/ca"]
        for command in [["config", "show"], ["topics", "plan"], ["dlq", "list"], ["send", "--self"]] {
            let run = try await HeraldProgram.run(command, environment: environment)
            #expect(run.status == 78, "\(command)")
            #expect(run.error.contains("environment HERALD_KAFKA_PROPERTIES: \"ssl.ca.locatoin\" is no property"))
            #expect(run.error.contains("did you mean ssl.ca.location?"))
            #expect(run.error.contains("HERALD_BACKEND_TLS_CA_FILE") == (command[0] == "send"))
        }
    }

    @Test("After an unreadable YAML file no setting is reported as missing")
    func broken() async throws {
        try await withFile("kafka:\n\tbootstrapServers: k\n") { file in
            let run = try await herald("config", "check", "--config", file)
            #expect(run.status == 78)
            #expect(run.error == "\(file):2:1: not valid YAML: a tab; YAML is indented with spaces\n")
        }
        let run = try await herald("config", "check", "--config", "/no/such.yaml", "--log-level", "loud")
        #expect(run.error.split(separator: "\n").count == 2 && !run.error.contains("is missing"), "\(run.error)")
    }

    @Test("Help and version go to standard output with 0, a usage mistake to standard error with 2")
    func usage() async throws {
        let help = try await herald("config", "show", "--help")
        #expect(help.status == 0 && help.error.isEmpty && help.output.contains("--retry-max-elapsed DURATION"))
        let same = try await herald("help", "config", "show")
        #expect(same.output == help.output)
        let version = try await herald("--version")
        #expect(version.status == 0 && version.output.hasPrefix("herald \(Herald.version) ("))
        for library in ["librdkafka", "libcurl", "OpenSSL", "libmicrohttpd", "http_parser", "nghttp2", "libyaml"] {
            #expect(version.output.contains(try Regex("\n\(library) [0-9]+[.][0-9]+[.][0-9]+[^ ]*\n")), "\(library)")
        }
        let mistake = try await herald("config", "shwo")
        #expect(mistake.status == 2 && mistake.output.isEmpty)
        #expect(mistake.error == "herald: unknown command \"shwo\"; did you mean show?\nTry: herald config --help\n")
        let nothing = try await herald()
        #expect(nothing.status == 2 && nothing.output.isEmpty && nothing.error.contains("Usage:"))
    }

    @Test(
        "An unreadable rule of misbehaviour is refused with the faulty part",
        arguments: [
            ("user=ann,status=abc", "status: abc is not a whole number from 200 to 599"),
            ("staus=503", "staus: unknown; allowed are name=value, comma-separated, of path, user, pns"),
            ("user,status=503", "user needs a value: user=…"),
            ("status=503,", "a part of the rule is empty; a rule is name=value"),
            ("user=ann", "nothing happens: expected a latency, status, hold, hang or hangUp"),
        ])
    func misbehaviour(rule: String, expected: String) throws {
        let message = CommandTable.mistake(in: ["backend", "--port", "0", "--misbehave", rule])
        #expect(message?.hasPrefix("--misbehave: \(expected)") == true, "\(message ?? "")")
    }

    @Test("The help of the backend lists the parts of a rule of misbehaviour")
    func misbehaviourHelp() throws {
        let path = try #require(CommandPath(root: CommandTable.root).descending(through: ["backend"]))
        let help = HelpPage.render(path, width: 100)
        for name in ["callsPerKey", "perSecond", "retryAfter", "hangUp", "carriedOut", "50-200"] {
            #expect(help.contains(name), "\(name)")
        }
    }

    @Test("Manual page and completion scripts are printed")
    func generated() async throws {
        let manual = try await herald("man")
        #expect(manual.status == 0 && manual.output.hasPrefix(".TH HERALD 1"))
        for shell in ["bash", "zsh", "fish"] {
            let script = try await herald("completion", shell)
            #expect(script.status == 0 && script.output.contains("herald completion \(shell) -- "))
            let answer = try await herald("completion", shell, "--", "--config", "x", "config", "sho")
            #expect(answer.output.split(whereSeparator: { "\t:\n".contains($0) }).first == "show")
        }
    }
}
