import Foundation
import HeraldHub
import HeraldSettings
import HeraldText
import Testing

@Suite("A notification hub in the settings")
struct HubSettingsTests {
    /// A hub that is complete except for the connection string's file.
    private static func hub(_ more: String = "", file: String = "/nonexistent/hub") -> String {
        "backend: {kind: azure-hub, hub: {connectionStringFile: \(file), name: MyHub}\(more)}"
    }

    @Test("The usual formats are those of today's push services")
    func formats() throws {
        let usual = try load(Self.hub()).settings
        #expect(usual.backend.hubFormats == ["apns": .apple, "gcm": .fcmv1, "wns": .windows])
        #expect(usual.backend.hub.tag == "username:{user}")
        #expect(usual.backend.hub.retryUnanswered && !usual.backend.hub.telemetry)
        let other = try load(
            "backend: {kind: azure-hub, pushServices: [fcm, gcm, browser, huawei], "
                + "hub: {formats: {gcm: gcm, huawei: fcmv1}}}"
        ).settings
        #expect(other.backend.hubFormats == ["fcm": .fcmv1, "gcm": .gcm, "browser": .browser, "huawei": .fcmv1])
    }

    @Test(
        "A tag that could reach every device, or none, is refused",
        arguments: [
            "", "username", "{user}{user}", "a || {user}", "!{user}", "({user})", "{USER}", "username:{user} ",
            "0123456789{user}", "$UserId:{user}", "{user",
        ])
    func tags(tag: String) {
        let found = mistakes("backend: {kind: azure-hub, hub: {tag: '\(tag)'}}")
        #expect(found.count == 1 && found[0].contains("backend.hub.tag"), "\(found)")
        #expect(found.first?.contains("{user} exactly once") == true)
    }

    @Test("Other tags are accepted", arguments: ["{user}", "username:{user}", "u#{user}@x", "{user}-012345.7"])
    func goodTags(tag: String) throws {
        #expect(try load("backend: {kind: azure-hub, hub: {tag: '\(tag)'}}").settings.backend.hub.tag == tag)
    }

    @Test(
        "The address and login of a backend of kind http are refused beside a hub",
        arguments: [
            "url: 'https://h'", "path: /x", "registerPath: /x", "auth: {kind: none}", "auth: {username: u}",
            "auth: {tokenFile: f}", "auth: {scope: s}", "auth: {caFile: c}",
        ])
    func beside(setting: String) {
        let found = mistakes(Self.hub(", \(setting)"))
        #expect(found.count == 1 && found[0].contains("does not go with backend.kind azure-hub"), "\(found)")
    }

    @Test("User names that no tag can contain are refused beside a hub")
    func users() throws {
        let found = mistakes(Self.hub(", users: text"))
        #expect(found.count == 1 && found[0].contains("backend.users: text does not go with"), "\(found)")
        #expect(mistakes(Self.hub(", users: tag")).isEmpty)
        #expect(try load("backend: {users: text}").settings.backend.users == .text)
        #expect(try load("").settings.backend.users == .tag)
    }

    @Test(
        "Formats are checked",
        arguments: [
            ("formats: {apns: ios}", "backend.hub.formats.apns: \"ios\""),
            ("formats: {huawei: fcmv1}", "\"huawei\" is none of backend.pushServices; allowed: apns, gcm, wns"),
            ("name: '/x'", "backend.hub.name"), ("name: 'a b'", "backend.hub.name"),
        ])
    func mistaken(setting: String, message: String) {
        let found = mistakes("backend: {kind: azure-hub, hub: {\(setting)}}")
        #expect(found.count == 1 && found[0].contains(message), "\(found)")
    }

    @Test("A push service without a format is refused for a hub only")
    func withoutFormat() {
        let found = mistakes("backend: {kind: azure-hub, pushServices: [apns, huawei]}")
        #expect(found.count == 1 && found[0].contains("\"huawei\" has no format at a hub"), "\(found)")
        #expect(mistakes("backend: {pushServices: [apns, huawei]}") == [])
    }

    @Test("A command that calls the hub needs its name and a readable connection string, and nothing else")
    func needs() throws {
        let missing = mistakes("backend: {kind: azure-hub}", requiring: .backend)
        #expect(missing.count == 2)
        #expect(missing.contains { $0.contains("backend.hub.connectionStringFile: is missing") }, "\(missing)")
        #expect(missing.contains { $0.contains("backend.hub.name: is missing") })
        let unreadable = mistakes(Self.hub(), requiring: .backend)
        #expect(unreadable.count == 1 && unreadable[0].contains("cannot be read"), "\(unreadable)")
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("hub-\(UUID().uuidString)")
        try Data("Endpoint=sb://x/\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(mistakes(Self.hub(file: file.path), requiring: .backend) == [])
    }

    @Test("A hub's settings beside a backend of kind http have no effect, and draw a warning")
    func ignored() throws {
        let loaded = try load("backend: {hub: {name: MyHub, telemetry: true}}")
        #expect(loaded.warnings.count == 2, "\(loaded.warnings)")
        #expect(loaded.warnings.allSatisfy { "\($0)".contains("backend.kind is http") })
    }
}
