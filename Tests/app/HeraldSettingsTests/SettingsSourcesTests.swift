import Foundation
import HeraldBackend
import HeraldEvents
import HeraldSettings
import HeraldText
import Testing

@Suite("The sources of settings")
struct SettingsSourcesTests {
    private static let yaml = "retry: {immediate: 1, replays: 1, maxElapsed: 1h}\n"

    @Test("Flags win over the environment, which wins over the file, which wins over the default")
    func precedence() throws {
        let loaded = try load(
            Self.yaml, environment: ["HERALD_RETRY_IMMEDIATE": "2", "HERALD_RETRY_REPLAYS": "2"],
            flags: ["retry-immediate": ["3"]])
        #expect(loaded.settings.retry.immediate == 3)
        #expect(loaded.settings.retry.replays == 2)
        #expect(loaded.settings.retry.maxElapsed == .seconds(3_600))
        #expect(loaded.settings.retry.delays.map(\.description) == ["5s", "30s", "5m", "30m", "2h"])
        let places = Dictionary(uniqueKeysWithValues: loaded.effective.map { ($0.path, $0.place.description) })
        #expect(places["retry.immediate"] == "flag --retry-immediate")
        #expect(places["retry.replays"] == "environment HERALD_RETRY_REPLAYS")
        #expect(places["retry.maxElapsed"] == "herald.yaml:1:47")
        #expect(places["retry.delays"] == "default")
    }

    @Test("A wrong value is a mistake even where a stronger source overrides it")
    func overridden() {
        #expect(mistakes("retry: {immediate: x}", flags: ["retry-immediate": ["3"]]).count == 1)
    }

    @Test("A password from a stronger source replaces a password file, and vice versa")
    func secretPairs() throws {
        let file = "backend: {url: http://h, auth: {username: u, passwordFile: /f}}"
        let literal = try load(file, environment: ["HERALD_BACKEND_AUTH_PASSWORD": "p"]).settings.backend.credentials()
        #expect(literal == .basic(username: "u", password: Secret("p")))
        let other = "backend: {url: http://h, auth: {username: u, password: p}}"
        let backend = try load(other, flags: ["backend-auth-password-file": ["/nonexistent/g"]]).settings.backend
        let error = #expect(throws: InputError.self) { try backend.credentials() }
        #expect(backend.hasSecretFile && error?.message.contains("/nonexistent/g") == true)
    }

    @Test("Kubernetes' variables for services of the same name are no mistake, other unknown variables are")
    func serviceLinks() {
        let links = [
            "HERALD_SERVICE_HOST": "10.0.0.1", "HERALD_PORT": "tcp://10.0.0.1:80", "HERALD_PORT_80_TCP": "x",
            "HERALD_PORT_80_TCP_ADDR": "x", "HERALD_BACKEND_SERVICE_PORT_HTTP": "80",
        ]
        #expect(mistakes(environment: links) == [])
        #expect(mistakes(environment: ["HERALD_X": "1"]) == ["environment HERALD_X: unknown setting"])
        for setting in SettingsTable.all {
            let variable = "HERALD_" + setting.flag.replacing("-", with: "_").uppercased()
            #expect(mistakes(environment: [variable: "\u{1}"]) != [], "\(variable) is taken for a service link")
        }
    }

    @Test("Names in the environment and as flags follow the path and are unique")
    func names() {
        let flags = Dictionary(uniqueKeysWithValues: SettingsTable.all.map { ($0.path, $0.flag) })
        #expect(flags["retry.maxElapsed"] == "retry-max-elapsed")
        #expect(flags["backend.tls.caFile"] == "backend-tls-ca-file")
        #expect(Set(flags.values).count == flags.count)
    }

    @Test("A secret's file is read again each time, without line feeds at its end")
    func secretFile() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("secret")
        let source = SecretSource.file(file.path)
        for (content, secret) in [("one\n", "one"), ("two\r\n\n", "two"), (" three ", " three ")] {
            try Data(content.utf8).write(to: file)
            #expect(try source.current().reveal() == secret)
        }
        for content in ["", "\n", "a\nb", "a\u{0}"] {
            try Data(content.utf8).write(to: file)
            #expect(throws: InputError.self) { try source.current() }
        }
    }

    @Test("A secret's file that every user may write is refused, and one that every user may read is named")
    func sharedSecretFile() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("secret\n".utf8).write(to: file)
        let manager = FileManager.default
        for (mode, isTaken, warnings) in [(0o640, true, 0), (0o644, true, 1), (0o602, false, 0), (0o666, false, 0)] {
            try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            let secret = try? SecretSource.file(file.path).current()
            #expect((secret != nil) == isTaken, "\(mode)")
            guard isTaken else { continue }
            let yaml = "console: {tokenFile: \(file.path)}"
            #expect(try load(yaml).sharedFiles.count == warnings, "\(mode)")
        }
    }

    @Test("A secret appears nowhere: not in values, mistakes, dumps or descriptions")
    func canary() throws {
        let yaml = """
            kafka:
              properties: {sasl.password: CANARY, ssl.key.pem: CANARY, sasl.jaas.config: CANARY, sasl.username: seen}
            backend:
              url: http://push.example.com
              proxy: http://user:CANARY@proxy:3128
              auth: {username: u, password: CANARY}
            """
        let loaded = try load(yaml, flags: ["backend-auth-token": ["CANARY"]])
        var shown = loaded.effective.map { "\($0.path) \($0.value.compact) \($0.place)" }.joined(separator: "\n")
        shown += loaded.warnings.map(\.description).joined()
        shown += String(reflecting: loaded.settings) + "\(loaded.settings)"
        dump(loaded.settings, to: &shown)
        #expect(!shown.contains("CANARY"))
        #expect(shown.contains("seen"))
        #expect(shown.contains("http://***@proxy:3128"))
        #expect(loaded.settings.backend.proxy?.reveal() == "http://user:CANARY@proxy:3128")

        for wrong in [
            "backend: {auth: {password: \"CANARY\\n\"}}", "backend: {auth: {pasword: CANARY}}",
            "backend: {url: 'http://u:CANARY@h'}", "backend: {url: 'http://u:CAN/CANARY@h'}",
            "backend: {proxy: 'http://u:CANARY@'}", "backend: {proxy: 'u:CANARY@h'}",
            "backend: {auth: {password: [CANARY]}}", "backend: {auth: {password: {CANARY: 1}}}",
            "kafka: {properties: {group.id: CANARY}}", "kafka: {properties: {sasl.password: [CANARY]}}",
            "kafka: {properties: {sasl.password: \"CANARY\\0\"}}",
        ] {
            let found = mistakes(wrong)
            #expect(!found.isEmpty, "\(wrong)")
            #expect(!found.joined().contains("CANARY"), "\(found)")
        }
    }
}
