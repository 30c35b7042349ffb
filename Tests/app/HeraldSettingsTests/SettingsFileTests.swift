import HeraldSettings
import Testing

@Suite("The settings file")
struct SettingsFileTests {
    @Test("All mistakes of file, environment and flags are reported at once, each with its place")
    func allAtOnce() {
        let found = mistakes(
            """
            retry:
              immediate: x
              delays: [5s, 5x, 30s]
              maxElapsd: 1h
            backend:
              auth:
                kind: oauth3
                scopes: all
              timeout: 10s
              timeout: 20s
            topics: {campaigns: c c}
            colour: red
            """,
            environment: ["HERALD_RETRY_REPLAYS": "many", "HERALD_BACKEND_ULR": "http://h", "PATH": "/bin"],
            flags: ["log-level": ["loud"]])
        #expect(
            found == [
                #"herald.yaml:2:14: retry.immediate: "x" is not a whole number; allowed: 0 to 20"#,
                #"herald.yaml:3:16: retry.delays[1]: "5x" is not a duration; allowed: 1ms to 7d, written as 100ms, "#
                    + "10s, 5m, 24h or 1d",
                "herald.yaml:4:3: retry.maxElapsd: unknown setting; did you mean retry.maxElapsed?",
                #"herald.yaml:7:11: backend.auth.kind: "oauth3" is unknown, did you mean "oauth2"?; allowed: basic, "#
                    + "bearer, oauth2, none",
                "herald.yaml:8:5: backend.auth.scopes: unknown setting; did you mean backend.auth.scope?",
                "herald.yaml:10:3: backend.timeout: is written twice, first in line 9",
                #"herald.yaml:11:21: topics.campaigns: "c c" is not allowed; allowed: 1 to 249 of A-Z a-z 0-9 . _ -, "#
                    + "not . or ..",
                "herald.yaml:12:1: colour: unknown setting; allowed here: kafka, topics, backend, feedback, "
                    + "delivery, retry, limits, outages, preferences, log, admin, console, traces",
                "environment HERALD_BACKEND_ULR: unknown setting; did you mean HERALD_BACKEND_URL?",
                #"environment HERALD_RETRY_REPLAYS: "many" is not a whole number; allowed: 0 to 100"#,
                #"flag --log-level: "loud" is unknown; allowed: error, warning, info, debug"#,
            ])
    }

    @Test(
        "A wrong shape is a mistake",
        arguments: [
            ("retry: 5", "herald.yaml:1:8: retry: must be a section with keys"),
            ("- a", "herald.yaml:1:1: must be a section with keys"),
            ("retry: {immediate: [1]}", "1:20: retry.immediate: is a list; one value is wanted"),
            ("retry: {immediate: {a: 1}}", "is a map; one value is wanted"),
            ("retry:\n  immediate:\n", "2:13: retry.immediate: has no value"),
            ("backend: {url: ~}", "backend.url: has no value"),
            ("retry: {delays: {a: b}}", "is a map; a list is wanted"),
            ("retry: {delays: }", "an empty list is written []"),
            ("backend: {aliases: [a]}", "is no map"), ("topics: {requests: [{weight: 2}]}", "has no name"),
            ("topics: {requests: [{name: a, wait: 2}]}", "topics.requests[0].wait: unknown key"),
            ("topics: {requests: [{name: a, name: b}]}", "is written twice"),
            ("immediate: 2", "immediate: unknown setting; did you mean retry.immediate?"),
        ])
    func shapes(yaml: String, message: String) {
        let found = mistakes(yaml)
        #expect(found.count == 1)
        #expect(found.first?.contains(message) == true, "\(found)")
    }

    @Test("Empty files, empty sections, comments and a byte order mark are no mistakes")
    func empty() {
        for yaml in [
            "", "# nothing\n", "---\n", "retry:\n  # immediate: 3\nlog:\n", "{}", "\u{FEFF}log: {level: info}",
        ] {
            #expect(mistakes(yaml) == [], "\(yaml)")
        }
    }

    @Test(
        "Hostile or broken YAML is one clear mistake",
        arguments: [
            ("a: &x [1]\nb: *x", "1:4: anchors (&name) are not allowed"),
            ("a: *x", "1:4: aliases (*name) are not allowed"),
            ("retry: !!map {}", "1:8: tags (!name) are not allowed"),
            ("log: {}\n---\nlog: {}", "2:1: a second document; only one is read"),
            (String(repeating: "[", count: 100_000), "nested deeper than 16 levels"),
            (String(repeating: "a: {", count: 20), "nested deeper than 16 levels"),
            ("retry:\n\timmediate: 2", "2:1: not valid YAML: a tab; YAML is indented with spaces"),
            ("retry: {immediate: 2", "not valid YAML"), ("a: b: c", "not valid YAML"),
            ("? [a]\n: b", "a key must be plain text"),
            ("a: \"\u{0}\"", "not valid YAML"), ("a: %b", "not valid YAML"),
        ])
    func hostile(yaml: String, message: String) {
        let found = mistakes(yaml)
        #expect(found.count == 1)
        #expect(found.first?.contains(message) == true, "\(found)")
        #expect(found.first?.hasPrefix("herald.yaml:") == true)
    }

    @Test("Any number of comments is no mistake")
    func comments() {
        #expect(mistakes(String(repeating: "# comment\n", count: 200_000)).isEmpty)
    }

    @Test("A foreign file is abandoned after a hundred mistakes")
    func bounded() {
        #expect(mistakes((0..<50_000).map { "key\($0): 1\n" }.joined()).count == 100)
    }

    @Test("Bytes other than UTF-8, even UTF-16, are refused at their place")
    func encodings() {
        func found(_ bytes: [UInt8]) -> [String] {
            do {
                _ = try Settings.load(SettingsSources(file: .bytes(bytes, name: "h.yaml")))
                return []
            } catch {
                return error.mistakes.map(\.description)
            }
        }
        #expect(found(Array("a: b\nü: ".utf8) + [0xFF]) == ["h.yaml:2:4: is not UTF-8 text"])
        #expect(found([0xFF, 0xFE, 0x61, 0x00]) == ["h.yaml:1:1: is not UTF-8 text"])
        #expect(found([0xC3]) == ["h.yaml:1:1: is not UTF-8 text"])
    }

    @Test("A missing file, a folder or an endless file is a mistake and no crash")
    func unreadable() {
        for (path, reason) in [
            ("/nonexistent/herald.yaml", "cannot be read: No such file"), ("/", "cannot be read: Is a directory"),
            ("/dev/zero", "is larger than 1048576 bytes"),
        ] {
            #expect(performing { try Settings.load(SettingsSources(file: .path(path))) }?.contains(reason) == true)
        }
    }

    private func performing(_ body: () throws -> LoadedSettings) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return "\(error)"
        }
    }
}
