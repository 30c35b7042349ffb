import HeraldBackend
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldTime
import TestSupport
import Testing

@testable import HeraldDoctor

@Suite("The doctor on a hub")
struct HubExaminerTests {
    private func checks(
        _ emulator: HubEmulator, string: String? = nil, hub: String? = nil, asksForTelemetry: Bool = true
    ) async throws -> [Check] {
        let tls = TLSFiles(caFile: emulator.caFile)
        let client = HubClient(
            try HubConnectionString(string ?? emulator.connectionString), hub: hub ?? emulator.hub,
            timeout: .seconds(10), tls: tls)
        let network = try BackendConfiguration(
            url: client.connectionString.origin, path: "/\(client.hub)/messages/", tls: tls, credentials: .none)
        return try await Blocking.run {
            var checks: [Check] = []
            Examination(
                broker: nil, backend: { HubExaminer(client, network: network, asksForTelemetry: asksForTelemetry) }
            ).run { checks.append($1) }
            return checks
        }
    }

    private func verdict(_ name: String, _ checks: [Check]) -> Verdict? { checks.first { $0.name == name }?.verdict }

    @Test("A working hub passes every check, and no device is notified")
    func well() async throws {
        let emulator = try HubEmulator()
        defer { emulator.stop() }
        let checks = try await checks(emulator)
        #expect(checks.allSatisfy { $0.verdict == .passed }, "\(checks)")
        #expect(
            checks.map(\.name) == [
                "connection string", "backend dns", "backend tcp", "backend tls", "backend answer",
                "backend credentials", "hub", "hub send", "hub telemetry", "clock",
            ])
        let key = try #require(emulator.connectionString.split(separator: "SharedAccessKey=").last)
        #expect(!checks.contains { $0.detail.contains(key) })
    }

    @Test("A rule without Send fails at the send")
    func listenOnly() async throws {
        let emulator = try HubEmulator()
        defer { emulator.stop() }
        let checks = try await checks(emulator, string: emulator.listenConnectionString)
        #expect(verdict("backend credentials", checks) == .passed)
        #expect(verdict("hub send", checks) == .failed)
        #expect(verdict("hub telemetry", checks) == nil)
    }

    @Test("A wrong key and a wrong hub are distinguished")
    func wrong() async throws {
        let emulator = try HubEmulator()
        defer { emulator.stop() }
        let string =
            String(emulator.connectionString.prefix { $0 != ";" })
            + ";SharedAccessKeyName=DefaultFullSharedAccessSignature;SharedAccessKey=another"
        #expect(verdict("backend credentials", try await checks(emulator, string: string)) == .failed)
        #expect(verdict("hub", try await checks(emulator, hub: "other")) == .failed)
    }

    @Test("Telemetry fails below the Standard tier, and is not examined when the settings do not use it")
    func telemetry() async throws {
        var configuration = HubEmulator.Configuration()
        configuration.tier = .free
        let emulator = try HubEmulator(configuration)
        defer { emulator.stop() }
        #expect(verdict("hub telemetry", try await checks(emulator)) == .failed)
        #expect(verdict("hub telemetry", try await checks(emulator, asksForTelemetry: false)) == nil)
    }

    @Test("An unusable connection string is reported, and nothing else is examined")
    func broken() {
        var checks: [Check] = []
        Examination(broker: nil, backend: { BrokenHubExaminer(mistake: "no Endpoint") }).run { checks.append($1) }
        #expect(checks.first?.name == "connection string" && checks.first?.verdict == .failed)
        #expect(checks.dropFirst().allSatisfy { $0.verdict == .skipped })
    }

    @Test(
        "Every refusal has its own advice",
        arguments: [
            (.refused(status: 401, retryAfterSeconds: 0, detail: "ExpiredToken: x"), .failed, "clock"),
            (.refused(status: 401, retryAfterSeconds: 0, detail: nil), .failed, "connection string"),
            (.refused(status: 403, retryAfterSeconds: 0, detail: nil), .failed, "Send"),
            (.refused(status: 403, retryAfterSeconds: 90, detail: nil), .warning, "90 s"),
            (.refused(status: 429, retryAfterSeconds: 0, detail: nil), .warning, "60 s"),
            (.refused(status: 400, retryAfterSeconds: 0, detail: "bad"), .warning, "herald send"),
            (.refused(status: 503, retryAfterSeconds: 0, detail: nil), .failed, "try again"),
            (.notFound(detail: nil), .failed, "backend.hub.name"),
        ] as [(HubFailure, Verdict, String)])
    func advice(failure: HubFailure, verdict: Verdict, word: String) throws {
        let check = try #require(HubJudgement.send(.failure(failure), hub: "hub").last)
        #expect(check.verdict == verdict)
        #expect(check.fix?.contains(word) == true)
    }
}
