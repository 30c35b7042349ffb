import HeraldCore
import HeraldEvents
import HeraldKernel
import HeraldSettings
import HeraldTime
import HeraldWorker
import Testing

@testable import herald

@Suite("The effect of a worker's settings on its engines")
struct WorkerSettingsTests {
    private func engines(_ yaml: String) throws -> [EngineConfiguration] {
        let base = "kafka: {bootstrapServers: k}\nbackend: {url: 'http://b', auth: {kind: none}"
        let file = SettingsSources.File.bytes(Array("\(base)\(yaml)\n".utf8), name: "herald.yaml")
        let loaded = try Settings.load(
            SettingsSources(file: file, environment: [:], flags: [:]), requiring: [.kafka, .backend])
        return try loaded.settings.workerConfiguration(descriptors: 10_000).lanes.map(\.engine)
    }

    @Test("Retries, their maximum duration, replays, order and duplicates follow the settings")
    func decisions() throws {
        let engine = try #require(
            try engines(
                """
                }
                retry: {immediate: 3, delays: [2s, 1h], maxElapsed: 30m, replays: 7}
                delivery: {ordering: partition, lanes: 1, dedupe: {window: 90s, size: 500}}
                """
            ).first)
        #expect(engine.retry.immediate == 3 && engine.retry.delays == [.seconds(2), .hours(1)])
        #expect(engine.retry.maxElapsed == .minutes(30) && engine.maxReplays == 7)
        #expect(engine.ordering == .partition)
        #expect(engine.duplicateWindow == .seconds(90) && engine.duplicateSize == 500)
    }

    @Test("Limits and breakers are divided among the lanes, and a status has its configured meaning")
    func lanes() throws {
        let lanes = try engines(
            """
            , statuses: {404: transient}}
            limits: {perSecond: 100, pushServices: {gcm: 30}}
            outages: {breaker: {of: 0}, deadLetterBreaker: {of: 11}}
            delivery: {lanes: 2, maxInFlight: 5}
            """)
        #expect(lanes.map(\.live.maxInFlight) == [3, 2])
        for live in lanes.map(\.live) {
            #expect(live.callsPerSecond == 50 && live.serviceCallsPerSecond == [nil, 15, nil])
            #expect(live.breaker.of == 0 && live.deadLetterBreaker.of == 6)
            #expect(live.statuses[404] == .transient && live.statuses[400] == .rejected)
        }
    }
}
