import HeraldTelemetry
import HeraldText
import Testing

@testable import HeraldSettings

@Suite("Reloaded settings")
struct SettingsChangesTests {
    private func changes(from former: String, to present: String) throws -> SettingsChanges {
        try load(former).settings.changes(to: try load(present).settings)
    }

    @Test("live settings are applied and reported with both values, all others are named")
    func taken() throws {
        let changes = try changes(
            from: """
                kafka: {group: a}
                limits: {perSecond: 100}
                """,
            to: """
                kafka: {group: b}
                backend: {statuses: {404: transient}}
                limits: {pushServices: {apns: 5}}
                log: {level: debug}
                delivery: {maxInFlight: 50, lanes: 2}
                """)
        #expect(
            changes.description == """
                backend.statuses {} → {"404":"transient"}, delivery.maxInFlight 1000 → 50, \
                limits.perSecond 100 → none, limits.pushServices {} → {"apns":5}, log.level info → debug; \
                needs a restart: kafka.group, delivery.lanes
                """)
        let settings = changes.settings
        #expect(settings.limits.perSecond == nil && settings.limits.pushServices == ["apns": 5])
        #expect(settings.delivery.maxInFlight == 50 && settings.log.level == .debug)
        #expect(settings.kafka.group == "a" && settings.delivery.lanes == 1)
        let again = settings.changes(to: try load("kafka: {group: b}\nlog: {level: debug}").settings)
        #expect(
            again.description == """
                backend.statuses {"404":"transient"} → {}, delivery.maxInFlight 50 → 1000, \
                limits.pushServices {"apns":5} → {}; needs a restart: kafka.group
                """)
    }

    @Test("a written default, and another order of keys, are no change")
    func same() throws {
        let changes = try changes(
            from: "backend: {statuses: {404: transient, 410: transient}}",
            to: "backend: {statuses: {410: transient, 404: transient}}\nlog: {level: info}\nlimits:")
        #expect(changes.description == "nothing has changed")
        #expect(changes.changed.isEmpty && changes.needRestart.isEmpty)
    }

    @Test("a changed secret is named and not shown")
    func secrets() throws {
        let changes = try changes(
            from: "backend: {auth: {password: canary-1}}\nkafka: {properties: {sasl.password: canary-1}}",
            to: "backend: {auth: {password: canary-2}}\nkafka: {properties: {sasl.password: canary-2}}")
        #expect(changes.description == "needs a restart: kafka.properties, backend.auth.password")
    }

    @Test("limits of push services wait for the restart that a change of the push services needs")
    func limitsOfServices() throws {
        let changes = try changes(
            from: "backend: {pushServices: [apns, wns]}\nlimits: {pushServices: {apns: 5, wns: 5}}",
            to: "backend: {pushServices: [apns]}\nlimits: {perSecond: 9, pushServices: {apns: 5}}")
        #expect(
            changes.description
                == "limits.perSecond none → 9; needs a restart: backend.pushServices, limits.pushServices")
        #expect(changes.settings.limits.pushServices == ["apns": 5, "wns": 5])
    }

    @Test("live settings are marked, contain no secrets, and depend on existing settings that are not live")
    func declarations() {
        for setting in SettingsTable.all {
            #expect(setting.documentation.hasSuffix("*Live.*") == setting.reload.isLive)
        }
        for setting in SettingsTable.all where setting.reload.isLive {
            #expect(!setting.traits.isSecret, "\(setting.path) would be shown")
            guard case .liveBeside(let other) = setting.reload else { continue }
            #expect(SettingsTable.all.contains { $0.path == other && !$0.reload.isLive })
        }
    }
}
