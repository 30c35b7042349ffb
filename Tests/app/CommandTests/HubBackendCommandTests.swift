import Foundation
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@Suite("Commands where the backend is a hub, as processes", .realTime)
struct HubBackendCommandTests {
    /// An emulated hub, a folder, and settings for the hub.
    private final class Setup {
        let emulator: HubEmulator
        let folder: URL
        /// The hub has stopped, and the authority's file is gone too.
        var isAway = false { didSet { emulator.stop() } }

        init(rule: (HubEmulator) -> String = { $0.connectionString }) throws {
            emulator = try HubEmulator()
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("herald-hub-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data((rule(emulator) + "\n").utf8).write(to: URL(fileURLWithPath: connectionStringFile))
        }

        var connectionStringFile: String { folder.appendingPathComponent("hub.txt").path }

        var environment: [String: String] {
            var variables = [
                "HERALD_BACKEND_KIND": "azure-hub", "HERALD_BACKEND_HUB_NAME": emulator.hub,
                "HERALD_BACKEND_HUB_CONNECTION_STRING_FILE": connectionStringFile,
            ]
            if !isAway { variables["HERALD_BACKEND_TLS_CA_FILE"] = emulator.caFile }
            return variables
        }

        /// Puts a registration as another client would.
        func put(_ id: String, _ kind: String, tags: String, _ more: String = "") async throws {
            let client = HubClient(
                try HubConnectionString(emulator.connectionString), hub: emulator.hub, timeout: .minutes(1),
                tls: TLSFiles(caFile: emulator.caFile))
            let entry =
                "<entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\"><\(kind) "
                + "xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\"><Tags>\(tags)</Tags>"
                + "<DeviceToken>0AFF</DeviceToken>\(more)</\(kind)></content></entry>"
            let outcome = try await Blocking.run {
                client.perform(
                    .other("PUT", Array(entry.utf8), mediaType: "application/atom+xml;type=entry;charset=utf-8"),
                    "registrations/\(id)")
            }
            guard case .response(let response) = outcome, response.status == 200 else {
                Issue.record("the hub refuses \(id): \(outcome)")
                return
            }
        }

        /// The number of deliveries to the device when a tag is sent to.
        func reaches(_ tag: String, as format: String = "apple") async throws -> Int {
            let before = emulator.payloads(ofHandle: "0AFF").count
            let client = HubClient(
                try HubConnectionString(emulator.connectionString), hub: emulator.hub, timeout: .minutes(1),
                tls: TLSFiles(caFile: emulator.caFile))
            _ = try await Blocking.run {
                client.send(
                    Array((format == "template" ? "{}" : #"{"aps":{"alert":"hi"}}"#).utf8), as: format,
                    mediaType: "application/json;charset=utf-8",
                    to: tag)
            }
            return emulator.payloads(ofHandle: "0AFF").count - before
        }

        func register(_ words: String...) async throws -> HeraldProgram.Run {
            try await HeraldProgram.run(
                ["register", "--store", folder.appendingPathComponent("ids.json").path] + words,
                environment: environment)
        }

        deinit {
            emulator.stop()
            try? FileManager.default.removeItem(at: folder)
        }
    }

    @Test("register puts a device on the hub with its user's tag, reuses its id, and removes it")
    func register() async throws {
        let setup = try Setup { $0.listenConnectionString }
        let first = try await setup.register("--platform", "apns", "--handle", "0aff", "--user", "alice", "-o", "jsonl")
        #expect(first.status == 0, "\(first.error)")
        let id = try #require(first.records.first?["registration"] as? String)
        let again = try await setup.register("--platform", "apns", "--handle", "0aff", "--user", "alice", "-o", "jsonl")
        #expect(again.records.first?["registration"] as? String == id)
        let anonymous = try await setup.register("--platform", "apns", "--handle", "0aff")
        #expect(anonymous.status == 2 && anonymous.error.contains("--user is needed"), "\(anonymous.error)")
        let removed = try await setup.register("--remove")
        #expect(removed.status == 0 && removed.error.contains("is removed"), "\(removed.error)")
        let nothing = try await setup.register("--remove")
        #expect(nothing.status == 0 && nothing.error.contains("nothing to remove"))
        setup.isAway = true
        let away = try await setup.register("--platform", "gcm", "--handle", "t", "--user", "alice")
        #expect(away.status == 5, "\(away.error)")
    }

    @Test("A second handle or user is another device, unless it has a name; --remove asks for the device")
    func devices() async throws {
        let setup = try Setup { $0.listenConnectionString }
        func id(_ words: String...) async throws -> String {
            let run = try await HeraldProgram.run(
                ["register", "--store", setup.folder.appendingPathComponent("ids.json").path, "-o", "jsonl"] + words,
                environment: setup.environment)
            #expect(run.status == 0, "\(run.error)")
            return try #require(run.records.first?["registration"] as? String)
        }
        let phone = try await id("--platform", "apns", "--handle", "0aff", "--user", "alice")
        let tablet = try await id("--platform", "apns", "--handle", "0bff", "--user", "alice")
        let lent = try await id("--platform", "apns", "--handle", "0aff", "--user", "bob")
        #expect(Set([phone, tablet, lent]).count == 3)
        let named = try await id("--platform", "apns", "--handle", "0cff", "--user", "eve", "--installation", "e")
        #expect(try await id("--platform", "apns", "--handle", "0dff", "--user", "eve", "--installation", "e") == named)
        let which = try await setup.register("--remove")
        #expect(which.status == 2 && which.error.contains("4 devices are remembered"), "\(which.error)")
        #expect(which.error.contains("\"apns alice ") && which.error.contains("\"e\""), "\(which.error)")
        let ids = try String(contentsOf: setup.folder.appendingPathComponent("ids.json"), encoding: .utf8)
        #expect(!which.error.contains("0aff") && !ids.contains("0aff"))
        let removed = try await setup.register("--remove", "--platform", "apns", "--handle", "0aff", "--user", "bob")
        #expect(removed.status == 0 && removed.error.contains("is removed"), "\(removed.error)")
        #expect(try await id("--platform", "apns", "--handle", "0aff", "--user", "alice") == phone)
        for words in [["--installation", "e"], ["--platform", "apns", "--handle", "0bff", "--user", "alice"], []] {
            let run = try await HeraldProgram.run(
                ["register", "--store", setup.folder.appendingPathComponent("ids.json").path, "--remove"] + words,
                environment: setup.environment)
            #expect(run.status == 0 && run.error.contains("is removed"), "\(run.error)")
        }
    }

    @Test("register deletes only its own user's duplicates; the rest stays, and is named")
    func others() async throws {
        let setup = try Setup()
        let (native, template) = ("AppleRegistrationDescription", "AppleTemplateRegistrationDescription")
        try await setup.put("1-1", template, tags: "username:ida,promo", "<BodyTemplate>{}</BodyTemplate>")
        try await setup.put("2-2", native, tags: "vip")
        try await setup.put("3-3", native, tags: "username:ida")
        try await setup.put("4-4", native, tags: "username:ida,old")
        let run = try await setup.register(
            "--platform", "apns", "--handle", "0aff", "--user", "ida", "--tags", "news", "-o", "jsonl")
        #expect(run.status == 0, "\(run.error)")
        let id = try #require(run.records.first?["registration"] as? String)
        #expect(["3-3", "4-4"].contains(id))
        #expect(run.error.contains("1-1 (template or installation, tags username:ida,promo)"), "\(run.error)")
        #expect(run.error.contains("2-2 (tags vip)"), "\(run.error)")
        #expect(!run.error.contains("3-3") && !run.error.contains("4-4"), "\(run.error)")
        #expect(try await setup.reaches("vip") == 1)
        #expect(try await setup.reaches("promo", as: "template") == 1)
        #expect(try await setup.reaches("news") == 1)
        #expect(try await setup.reaches("old") == 0)
    }

    @Test("doctor verifies a hub, and names the fault of a connection string without its key")
    func doctor() async throws {
        let setup = try Setup()
        let well = try await HeraldProgram.run(
            ["doctor", "--only", "backend", "-o", "jsonl"], environment: setup.environment)
        #expect(well.status == 0, "\(well.output) \(well.error)")
        #expect(well.records.contains { $0["check"] as? String == "hub send" && $0["verdict"] as? String == "passed" })
        let broken = try Setup { _ in "SharedAccessKeyName=a;SharedAccessKey=canary" }
        let run = try await HeraldProgram.run(["doctor", "--only", "backend"], environment: broken.environment)
        #expect(run.status == 1 && run.output.contains("✗ connection string"), "\(run.output) \(run.error)")
        #expect(!(run.output + run.error).contains("canary"))
    }

    @Test("backend needs all of a hub's options, and a file with a connection string")
    func backend() async throws {
        let setup = try Setup { _ in "nonsense" }
        let half = try await HeraldProgram.run(["backend", "--hub", "x", "--port", "0"])
        #expect(half.status == 2 && half.error.contains("go together"), "\(half.error)")
        let broken = try await HeraldProgram.run(
            ["backend", "--hub", "x", "--hub-connection-string-file", setup.connectionStringFile, "--port", "0"])
        #expect(broken.status == 1 && broken.error.contains("connection string"), "\(broken.error)")
    }

    /// `herald backend` on the hub, as a process.
    private final class RunningBackend {
        let port: UInt16
        private let process: RunningHerald

        init(_ setup: Setup) async throws {
            process = try RunningHerald([
                "backend", "--port", "0", "--hub", setup.emulator.hub, "--hub-connection-string-file",
                setup.connectionStringFile, "--hub-ca-file", setup.emulator.caFile,
            ])
            let line = String(decoding: try await process.line(), as: UTF8.self)
            port = UInt16(try #require(URL(string: line)?.port))
        }

        func kill() async throws {
            process.signal(SIGKILL)
            _ = try await process.end()
        }
    }

    private static func call(
        _ port: UInt16, _ method: String, _ target: String, user: String = "ann", body: String? = nil
    ) throws -> PlainHTTP.Answer {
        let basic = "Basic " + Data("\(user):\(user)".utf8).base64EncodedString()
        return try PlainHTTP.request(port: port, method, target, headers: ["Authorization": basic], body: body)
    }

    /// Registers a device as an app does; returns false when the backend failed.
    private static func register(_ port: UInt16, _ handle: String, user: String = "ann") throws -> Bool {
        let answer = try call(port, "POST", "/api/register?handle=\(handle)", user: user)
        guard answer.status == 200 else { return false }
        let id = try JSONDecoder().decode(String.self, from: Data(answer.body))
        let device = #"{"Platform":"gcm","Handle":"\#(handle)","Tags":[]}"#
        return try call(port, "PUT", "/api/register/\(id)", user: user, body: device).status == 200
    }

    @Test("backend, killed amid calls, leaves a device one registration, and loses nothing it answered 200 to")
    func killed() async throws {
        let setup = try Setup()
        let answered = Guarded<Set<String>>([])
        let ended = Guarded(0)
        for (round, more) in [1, 4, 9].enumerated() {
            let backend = try await RunningBackend(setup)
            let port = backend.port
            if round == 0 { #expect(try await Blocking.run { try Self.register(port, "bobs", user: "bob") }) }
            let clients = (0..<3).map { client in
                Task {
                    try await Blocking.run {
                        for number in 0... {
                            // Another process may have the killed one's port by now.
                            if ended.withLock({ $0 }) > round { return }
                            let text = "\(round)-\(client)-\(number)"
                            _ = try Self.register(port, "anns")
                            let target = "/api/notifications?pns=gcm&to_tag=bob"
                            if try Self.call(port, "POST", target, body: "\"\(text)\"").status == 200 {
                                answered.withLock { _ = $0.insert(text) }
                            }
                        }
                    }
                }
            }
            let count = answered.withLock { $0.count } + more
            #expect(try await eventually { answered.withLock { $0.count } >= count })
            try await backend.kill()
            ended.withLock { $0 = round + 1 }
            // Each ends when its connection is cut off or refused.
            for client in clients { _ = try? await client.value }
        }
        let received = Set(setup.emulator.payloads(ofHandle: "bobs"))
        for text in answered.withLock({ $0 }) {
            #expect(received.contains(#"{"message":{"data":{"message":"From ann: \#(text)"}}}"#), "\(text)")
        }
        let last = try await RunningBackend(setup)
        let port = last.port
        #expect(try await Blocking.run { try Self.register(port, "anns") })
        #expect(try await Blocking.run { try Self.call(port, "POST", "/api/notifications", body: nil).status } == 200)
        let greetings = setup.emulator.payloads(ofHandle: "anns").filter { $0.contains("Hello, ann") }
        #expect(greetings.count == 1)
        try await last.kill()
    }
}
