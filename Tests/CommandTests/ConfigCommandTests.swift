import Foundation
import Testing

@Suite("The program's own commands, as a process")
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

    @Test("config show prints every value and where it came from, as data on standard output")
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

    @Test("config show prints the whole table of statuses that is in force")
    func statuses() async throws {
        let run = try await herald("config", "show", "-o", "jsonl", "--backend-statuses", "403=rejected,404=transient")
        #expect(
            run.output.contains(
                #"{"setting":"backend.statuses","value":{"200-299":"delivered","300-400":"rejected","401":"credentials","#
                    + #""402-403":"rejected","404":"transient","405-407":"rejected","408-409":"transient","#),
            "\(run.output)")
    }

    @Test("A secret is in no output of any format, right or wrong")
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

    @Test("Help and version go to standard output with 0, a mistake of usage to standard error with 2")
    func usage() async throws {
        let help = try await herald("config", "show", "--help")
        #expect(help.status == 0 && help.error.isEmpty && help.output.contains("--retry-max-elapsed DURATION"))
        let same = try await herald("help", "config", "show")
        #expect(same.output == help.output)
        let version = try await herald("--version")
        #expect(version.status == 0 && version.output.hasPrefix("herald "))
        let mistake = try await herald("config", "shwo")
        #expect(mistake.status == 2 && mistake.output.isEmpty)
        #expect(mistake.error == "herald: unknown command \"shwo\"; did you mean show?\nTry: herald config --help\n")
        let nothing = try await herald()
        #expect(nothing.status == 2 && nothing.output.isEmpty && nothing.error.contains("Usage:"))
    }

    @Test("Manual page and completion scripts are printed")
    func generated() async throws {
        let manual = try await herald("man")
        #expect(manual.status == 0 && manual.output.hasPrefix(".TH HERALD 1"))
        for shell in ["bash", "zsh", "fish"] {
            let script = try await herald("completion", shell)
            #expect(script.status == 0 && script.output.contains("herald config show"))
        }
    }
}
