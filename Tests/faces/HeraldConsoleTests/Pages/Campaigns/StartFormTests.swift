import Foundation
import HeraldCampaigns
import HeraldEvents
import HeraldText
import HeraldThreads
import HeraldTime
import HeraldTools
import TestSupport
import Testing

@testable import HeraldConsole

@Suite("A campaign started in the console")
struct StartFormTests {
    private let rules = CampaignStartRules(
        pushServices: .standard, maximumEventBytes: 65_536, users: .tag, reach: ContentReach(), uploadLimit: 1 << 20,
        directory: NSTemporaryDirectory())
    private let requests = ["notifications", "notifications.bulk"]

    private func form(_ change: (inout StartForm) -> Void = { _ in }) -> StartForm {
        var form = StartForm(upload: "k", name: "spring", message: "Hi {{first_name}}", pns: ["apns", "FCM", "gcm"])
        change(&form)
        return form
    }

    private func order(
        _ definition: CampaignDefinition? = nil, _ change: (inout StartForm) -> Void = { _ in }
    ) throws -> CampaignOrder {
        try form(change).order(rules, requests: requests, definition: definition)
    }

    private static func definition(message: String, pns: String, topic: String) throws -> CampaignDefinition {
        let text = """
            {"name":"spring","message":"\(message)","pns":["\(pns)"],"topic":"\(topic)","startedAt":0,"startedBy":"ann",
            "requestOffsets":{},"resultOffsets":{}}
            """
        return try JSONDecoder().decode(CampaignDefinition.self, from: Data(text.utf8))
    }

    @Test("It means the same as the command")
    func same() throws {
        let form = form {
            $0.rate = "12000/m"
            $0.ramp = "1,10"
            $0.pauseIfFailures = "5%"
            $0.expiresIn = "6h"
        }
        let order = try form.order(rules, requests: requests, definition: nil)
        #expect(order.text.pushServices == ["apns", "gcm"] && order.topic == "notifications.bulk")
        #expect(order.rate == 200 && order.ramp == [1, 10] && order.pauseIfFailures == 0.05)
        #expect(order.expiresIn == .hours(6) && !order.endsWhenPausedByFailures)
        #expect(
            form.command(order, file: "users.csv", isMessageMasked: false) == [
                "herald", "campaign", "start", "--name", "spring", "--audience", "users.csv", "--message",
                "Hi {{first_name}}", "--pns", "apns,gcm", "--topic", "notifications.bulk", "--rate", "12000/m",
                "--ramp",
                "1,10", "--pause-if-failures", "5%", "--expires-in", "6h",
            ])
    }

    @Test("A continued campaign keeps its message, push services and topic")
    func continued() throws {
        let definition = try Self.definition(message: "Hi", pns: "wns", topic: "notifications")
        let order = try order(definition) {
            $0.message = nil
            $0.pns = []
            $0.topic = ""
        }
        #expect(order.text.template.message == "Hi" && order.text.pushServices == ["wns"])
        #expect(order.topic == "notifications")
    }

    @Test(
        "Missing or wrong fields are named",
        arguments: [
            ("name", "a b"), ("message", ""), ("message", "{{#a}}"), ("message", String(repeating: "x", count: 70_000)),
            ("pns", ""), ("pns", "pigeon"), ("topic", "others"), ("rate", "fast"), ("ramp", "1,all"),
            ("pauseIfFailures", "0%"), ("expiresIn", "0"), ("maxInvalid", "1"),
        ])
    func mistakes(name: String, value: String) {
        let error = #expect(throws: FormMistake.self) {
            try order(nil) { form in
                switch name {
                case "name": form.name = value
                case "message": form.message = value
                case "pns": form.pns = value.isEmpty ? [] : [value]
                case "topic": form.topic = value
                case "rate": form.rate = value
                case "ramp": form.ramp = value
                case "maxInvalid": form.maxInvalid = value
                case "pauseIfFailures": form.pauseIfFailures = value
                default: form.expiresIn = value
                }
            }
        }
        #expect(error?.field == name, "\(String(describing: error))")
    }

    @Test("Another encoding than the campaign's is a mistake of its field")
    func encoding() throws {
        let text = """
            {"recipients":1,"encoding":"WINDOWS-1252","published":1,"repeats":0,"invalid":0,"isComplete":false,"at":0,
            "by":"ann","outcomes":{},"resultOffsets":{}}
            """
        let former = try JSONDecoder().decode(CampaignProgress.self, from: Data(text.utf8))
        let error = #expect(throws: FormMistake.self) {
            try form { $0.encoding = "MACINTOSH" }.audience(after: former)
        }
        #expect(error?.field == "encoding")
        #expect(try form().audience(after: former).formerEncoding?.name == "WINDOWS-1252")
        let replacing = form { ($0.encoding, $0.replaceAudience) = ("MACINTOSH", true) }
        #expect(try replacing.audience(after: former).encoding?.name == "MACINTOSH")
    }

    @Test("A share without its % is told so")
    func percent() throws {
        for change: (inout StartForm) -> Void in [{ $0.maxInvalid = "5" }, { $0.pauseIfFailures = "5" }] {
            let error = #expect(throws: FormMistake.self) { try order(nil, change) }
            #expect(error?.description == #""5" lacks its %; write 5%"#)
        }
        #expect(try order(nil) { $0.pauseIfFailures = "5 %" }.pauseIfFailures == 0.05)
    }

    /// The draft of a previewed audience.
    private func draft(_ text: String, message: String? = "Hi {{user}}") async throws
        -> AskedTasks<CampaignDraft>.Snapshot
    {
        let store = UploadStore(in: NSTemporaryDirectory(), limits: UploadStore.Limits())
        let bytes = Array(text.utf8)
        let key = try store.declare(name: "users.csv", byteCount: bytes.count, owner: "ann")
        for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
            _ = try store.append(
                Array(bytes[start..<min(start + 1 << 20, bytes.count)]), at: start, to: key, owner: "ann")
        }
        let file = try store.file(key, owner: "ann").file
        let audience = try Audience(file, name: "users.csv", AudienceForm(), copyingInto: NSTemporaryDirectory())
        let definition = try Self.definition(message: "Secret", pns: "apns", topic: "notifications.bulk")
        let order = try order(definition) { $0.message = message }
        let form = form { $0.message = message }
        let draft = CampaignDraft(
            owner: "ann", upload: key, hash: form.hash, order: order, form: form, file: "users.csv")
        let tasks = try AskedTasks<CampaignDraft>(name: "test", most: 1, busy: "")
        try tasks.begin("a") { try CampaignDraft.preview(draft, audience, of: nil, $0) }
        #expect(try await eventually { tasks.ask("a")?.isEnded == true })
        return try #require(tasks.ask("a"))
    }

    private static var spring: CampaignContent {
        var content = CampaignContent()
        (content.title, content.data) = ("Spring, {{first_name}}", ["order": "1"])
        return content
    }

    @Test("Title and data are as in the command, and masked with the message")
    func content() throws {
        let form = form { $0.content = Self.spring }
        let order = try form.order(rules, requests: requests, definition: nil)
        #expect(order.text.template.content == Self.spring)
        let words = form.command(order, file: "users.csv", isMessageMasked: false)
        #expect(words.contains("Spring, {{first_name}}") && words.contains("order=1"))
        let masked = form.command(order, file: "users.csv", isMessageMasked: true)
        #expect(masked.contains("--title") && masked.contains("order=…") && !masked.joined().contains("Spring"))
    }

    @Test("A continued campaign keeps what the form leaves out, and a mistake names its field")
    func continuedContent() throws {
        var definition = try Self.definition(message: "Hi", pns: "wns", topic: "notifications")
        definition.content = Self.spring
        let order = try order(definition) { $0.message = nil }
        #expect(order.text.template.message == "Hi" && order.text.template.content == Self.spring)
        var wrong = CampaignContent()
        wrong.link = "www.shop.example"
        let mistake = #expect(throws: FormMistake.self) { try self.order { $0.content = wrong } }
        #expect(mistake?.field == "link" && mistake?.description.hasPrefix("is no URL") == true)
    }

    @Test("The preview counts, shows the first invalid lines, and asks for the number above 100")
    func preview() async throws {
        let users = (0..<150).map { "member-\($0)\n" }.joined()
        let draft = try #require(try await draft("user\n\(users)member-3\na b\n\"open\n").value)
        let object = draft.json
        #expect(object["state"] == "done" && object["typed"] == 150)
        #expect(object["preview"]?["recipients"] == 150 && object["preview"]?["repeats"] == 1)
        #expect(object["preview"]?["invalid"] == 2 && object["preview"]?["toNotify"] == 150)
        guard case .string(let refusal)? = object["preview"]?["refusal"] else { throw Refused("no refusal", status: 0) }
        #expect(refusal.hasPrefix("2 of 153 lines are invalid (1.3%)"))
        for isMasked in [false, true] {
            #expect(draft.command(isMessageMasked: isMasked).suffix(2) == ["--max-invalid", "100%"])
        }
        #expect(object["preview"]?["readAs"] == #"CSV with commas, users in the column "user""#)
        guard case .array(let samples)? = object["preview"]?["samples"] else { throw Refused("no samples", status: 0) }
        #expect(samples.count == 3 && samples.first?["message"] == "Hi member-0")
        let lines = String(decoding: try #require(draft.outcome?.invalidLines), as: UTF8.self)
        #expect(
            lines.hasPrefix("\u{FEFF}user,invalid_line,invalid_row,invalid_why\r\na b,153,153,")
                && lines.split(separator: "\r\n").count == 3)
        // It names no settings, which its reader does not have.
        for text in [lines, object.compact] {
            #expect(text.contains("user holds a space") && !text.contains("backend.users") && !text.contains("tag"))
        }
        // A start finds them again, because a waiting preview keeps none.
        let outcome = try #require(draft.outcome)
        let recipients = try CampaignDraft.recipients(of: outcome, draft.order) { false }
        #expect(try #require(recipients).count == 150)
    }

    @Test("A message that was not typed here is not in the preview")
    func masked() async throws {
        let draft = try #require(try await draft("user\nann\n", message: nil).value)
        let object = draft.json
        #expect(object["preview"]?["recipients"] == 1 && object["typed"] == nil && object["untyped"] == ["message"])
        #expect(!object.compact.contains("Secret"))
        // It is shown on request, which the audit has.
        #expect(
            draft.messages?.compact
                == #"{"samples":[{"user":"ann","message":"Secret"}],"longest":{"user":"ann","message":"Secret","characters":6}}"#
        )
    }

    @Test("The job of a campaign shows its command to every viewer, without the message")
    func maskedJob() async throws {
        let draft = try #require(try await draft("user\nann\n", message: "Secret {{user}}").value)
        let outcome = try #require(draft.outcome)
        #expect(draft.json.compact.contains("Secret"))
        let about = PublishingJob.about(draft, recipients: outcome.preview.audience.recipients)
        #expect(!about.compact.contains("Secret"))
        #expect(about["command"]?.compact.contains(#""--message","…""#) == true)
    }

    @Test("A hostile audience (endless lines, only mistakes) fills neither memory nor the page")
    func hostile() async throws {
        let mistakes = try await draft("user\n" + String(repeating: "=1+1 \u{202E}\n", count: 50_000))
        let draft = try #require(mistakes.value)
        #expect(draft.json["preview"]?["invalid"] == 50_000 && draft.json["keptInvalidLines"] == 10_000)
        #expect(try #require(draft.outcome?.invalidLines).count < 4 << 20)
        #expect(!draft.json.compact.contains("\u{202E}"))
        let endless = try await self.draft("user\n" + String(repeating: "x", count: 3 << 20))
        #expect(endless.value?.json["preview"]?["recipients"] == 0)
        let noColumn = try await self.draft("name\nann\n")
        #expect(noColumn.failure != nil && noColumn.value != nil)
    }
}
