import HeraldText
import Testing

@testable import HeraldSettings

@Suite("Settings as a file")
struct SettingsFileTextTests {
    /// A value of every shape, and text that YAML would misinterpret.
    private static let flags: [String: [String]] = [
        "kafka-bootstrap-servers": ["kafka-1:9092,[::1]:9093"], "kafka-group": ["true"],
        "kafka-properties": ["security.protocol=ssl,client.id=a\\, b: \"c\" #d,ssl.ca.location=/x y/ä.pem"],
        "topics-requests": ["notifications,bulk=1"], "topics-results": ["-x-"], "backend-url": ["http://h:8080/base"],
        "backend-auth-kind": ["none"], "backend-statuses": ["403=rejected,404=delivered"],
        "backend-push-services": ["apns,gcm"], "backend-auth-scope": ["@here: {it} is"],
        "delivery-max-in-flight": ["7"], "retry-delays": ["5s,1m"], "admin-listen": ["off"],
        "kafka-static-membership": ["true"], "kafka-instance": ["12.5"], "console-hosts": ["null,y"],
    ]

    @Test("Written settings come back from the file, each at its place and no other")
    func roundTrip() throws {
        let before = try load(flags: Self.flags)
        let after = try load(before.file(under: ["By a test."]))
        #expect(after.effective.map(\.value) == before.effective.map(\.value))
        for (before, after) in zip(before.effective, after.effective) {
            #expect((before.place == .standard) == (after.place == .standard), "\(before.path)")
        }
    }

    @Test("Important settings appear as comments with their defaults, without effect until uncommented")
    func worthKnowing() throws {
        let text = try load(flags: ["kafka-group": ["g"]]).file(under: [])
        for path in SettingsTable.worthKnowing {
            let setting = try #require(SettingsTable.all.first { $0.path == path })
            let key = path.split(separator: ".").last ?? ""
            #expect(setting.standardText?.isEmpty == false && text.contains("  # \(key): "), "\(path)")
        }
        let written = text.split(separator: "\n").map { line in
            // A comment in prose begins with a capital.
            let isSetting = line.contains(#/^ *\# [a-z]\w*: /#)
            return isSetting ? line.replacing("# ", with: "", maxReplacements: 1) : line
        }
        let all = try load(written.joined(separator: "\n"))
        #expect(all.effective.map(\.value) == (try load(flags: ["kafka-group": ["g"]])).effective.map(\.value))
        let paths = all.effective.filter { $0.place != .standard }.map(\.path)
        #expect(Set(paths) == SettingsTable.worthKnowing.union(["kafka.group"]))
    }

    @Test("Every setting is below its sentence of the table, in lines of at most a hundred columns")
    func comments() throws {
        let before = try load(flags: Self.flags)
        let lines = before.file(under: []).split(separator: "\n").map(String.init)
        #expect(lines.filter { $0.contains(#/^ *\# /#) }.allSatisfy { $0.count <= 100 })
        let prose = lines.map { $0.replacing(#/^ *(\# )?/#, with: "") }.joined(separator: " ")
        for (setting, effective) in zip(SettingsTable.all, before.effective) where effective.place != .standard {
            let key = setting.path.split(separator: ".").last ?? ""
            #expect(prose.contains("\(setting.summary) \(key):"), "\(setting.path)")
        }
    }

    @Test(
        "A secret that would be written into the file is named with its source and the fix",
        arguments: [
            ("HERALD_BACKEND_AUTH_PASSWORD", "CANARY", "--backend-auth-password-file"),
            ("HERALD_ADMIN_TOKEN", "CANARY", "--admin-token-file"),
            ("HERALD_KAFKA_PROPERTIES", "sasl.password=CANARY", "docs/SETTINGS.md"),
            ("HERALD_BACKEND_PROXY", "http://u:CANARY@p:1", "docs/SETTINGS.md"),
        ])
    func secrets(variable: String, value: String, words: String) throws {
        let found = try load(environment: [variable: value]).openSecrets.map(\.description)
        #expect(found.count == 1 && found[0].contains(variable) && found[0].contains(words), "\(found)")
        #expect(!found[0].contains("CANARY"))
        #expect(try load(environment: ["HERALD_BACKEND_AUTH_PASSWORD_FILE": "/p"]).openSecrets.isEmpty)
    }
}
