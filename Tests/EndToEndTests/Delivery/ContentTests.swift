import Foundation
import HeraldSandbox
import HeraldText
import TestSupport
import Testing

@Suite("More than a sentence", .realKafka("More than a sentence"))
struct ContentTests {
    private static let content =
        #""title":"Your \"parcel\"","link":"shop://orders/17","image":"https://cdn.example/p.png","#
        + #""data":{"order":"17"},"badge":1,"sound":"default","category":"SHIPPED""#

    private static func event(_ id: String, _ pns: [String], _ content: String = content) -> Publication {
        let names = pns.map { "\"\($0)\"" }.joined(separator: ",")
        return Publication(
            user: "anna", text: #"{"id":"\#(id)","user":"anna","pns":[\#(names)],"message":"is here",\#(content)}"#)
    }

    @Test("A backend whose body is text gets the message, and the result names what it was not given")
    func text() async throws {
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish([
                Self.event("e", ["apns"]), Publication(id: "plain", user: "bob"),
                Self.event("bad", ["apns"], #""link":"http://shop.example""#),
            ])
            try await fixture.waitForResults(3)
            let oracle = try await Oracle(fixture)
            oracle.expectResults([
                "e": ["apns": "delivered 200 attempts 1"], "plain": ["apns": "delivered 200 attempts 1"],
                "bad": ["": "dead-lettered invalid"],
            ])
            #expect(oracle.calls.allSatisfy { $0.content.isEmpty })
            #expect(Set(oracle.calls.compactMap(\.message)) == ["is here", "Hello"])
            let results = try fixture.results
            #expect(
                results.first { $0.id == "e" }?.record.json?["omitted"] as? [String]
                    == ["title", "link", "image", "data", "badge", "sound", "category"])
            #expect(results.first { $0.id == "plain" }?.members.contains("omitted") == false)
            #expect(
                results.first { $0.id == "bad" }?.record.json?["detail"] as? String
                    == "link begins with http:; it has to begin with https: or the app's own scheme")
            var metrics: [String: Double] = [:]
            #expect(
                try await eventually {
                    metrics = try await worker.metrics()
                    return metrics[#"herald_omitted_content_total{pns="apns",field="title"}"#] == 1
                })
            #expect(metrics[#"herald_omitted_content_total{pns="gcm",field="title"}"#] == 0)
        }
    }

    @Test("A backend whose body is an object gets all of it, with the key of always")
    func object() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["backend.body": "object"]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish([Self.event("e", ["apns", "gcm"]), Publication(id: "plain", user: "bob")])
            try await fixture.waitForResults(3)
            let oracle = try await Oracle(fixture)
            oracle.expectResults([
                "e": ["apns": "delivered 200 attempts 1", "gcm": "delivered 200 attempts 1"],
                "plain": ["apns": "delivered 200 attempts 1"],
            ])
            let calls = oracle.calls.filter { $0.user == "anna" }
            #expect(Set(calls.compactMap(\.idempotencyKey)) == ["e:anna:apns", "e:anna:gcm"])
            for call in calls {
                #expect(call.message == "is here")
                #expect(
                    JSONValue.object(call.content).compact
                        == #"{"title":"Your \"parcel\"","link":"shop://orders/17","image":"https://cdn.example/p.png","#
                        + #""sound":"default","category":"SHIPPED","badge":1,"data":{"order":"17"}}"#)
            }
            #expect(oracle.calls.contains { $0.user == "bob" && $0.message == "Hello" && $0.content.isEmpty })
            #expect(try fixture.results.allSatisfy { !$0.members.contains("omitted") })
        }
    }

    @Test("A campaign's title, link, picture and data are filled in, and a backend that takes objects gets them")
    func campaign() async throws {
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        plan.settings = ["backend.body": "object"]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let audience = fixture.directory.appending(path: "users.csv")
            try """
            user,name,offer,picture
            anna,"Ann ""A\u{FC}"" \u{1F4E6}",17,https://cdn.example/17.png
            bob,Bob,18,

            """.write(to: audience, atomically: true, encoding: .utf8)
            let run = try await fixture.campaign(
                "start", "--name", "spring", "--audience", audience.path, "--message", "Look inside, {{name}}",
                "--title", "For {{name}}", "--link", "shop://offers/{{offer}}", "--image", "{{picture|}}",
                "--data", "offer={{offer}}", "--data", "kind=spring", "--badge", "3", "--sound", "none",
                "--category", "OFFER", "--pns", "apns,gcm", "--yes")
            #expect(run.status == 0, "\(run.output)")
            try await fixture.waitForResults(4)
            let calls = fixture.backend.calls
            #expect(calls.count == 4 && calls.allSatisfy { $0.status == 200 })
            for (user, name, filled) in [
                (
                    "anna", "Ann \"A\u{FC}\" \u{1F4E6}",
                    #""link":"shop://offers/17","image":"https://cdn.example/17.png""#
                ),
                ("bob", "Bob", #""link":"shop://offers/18""#),
            ] {
                let own = calls.filter { $0.user == user }
                #expect(own.compactMap(\.pns).sorted() == ["apns", "gcm"])
                let title = JSONValue.string("For \(name)").compact
                let offer = user == "anna" ? 17 : 18
                for call in own {
                    #expect(call.message == "Look inside, \(name)")
                    #expect(
                        JSONValue.object(call.content).compact
                            == #"{"title":\#(title),\#(filled),"sound":"none","category":"OFFER","badge":3,"#
                            + #""data":{"kind":"spring","offer":"\#(offer)"}}"#)
                }
            }
            #expect(try fixture.results.allSatisfy { $0.outcome == "delivered" && !$0.members.contains("omitted") })
        }
    }

    @Test("A hub gets each platform's own payload; a platform without a place for something is told of")
    func hub() async throws {
        let hub = try HubEmulator(HubEmulator.Configuration())
        defer { hub.stop() }
        try await Fixture.run { fixture in
            _ = try await fixture.startHubWorker(hub)
            try await fixture.publish([Self.event("e", ["apns", "gcm", "wns"])])
            try await fixture.waitForResults(3)
            let sends = Dictionary(uniqueKeysWithValues: hub.sends.map { ($0.format ?? "none", $0.text) })
            #expect(
                sends == [
                    "apple":
                        #"{"aps":{"alert":{"title":"Your \"parcel\"","body":"is here"},"badge":1,"sound":"default","#
                        + #""category":"SHIPPED","mutable-content":1},"link":"shop://orders/17","#
                        + #""image":"https://cdn.example/p.png","order":"17"}"#,
                    "fcmv1": #"{"message":{"notification":{"body":"is here","title":"Your \"parcel\"","#
                        + #""image":"https://cdn.example/p.png"},"data":{"link":"shop://orders/17","order":"17"},"#
                        + #""android":{"notification":{"channel_id":"SHIPPED","sound":"default"}}}}"#,
                    "windows": #"<toast launch="shop://orders/17" activationType="protocol"><visual>"#
                        + #"<binding template="ToastGeneric"><text>Your &quot;parcel&quot;</text><text>is here</text>"#
                        + #"<image placement="hero" src="https://cdn.example/p.png"/></binding></visual></toast>"#,
                ])
            let omitted = try fixture.results.map {
                ($0.pns ?? "", $0.record.json?["omitted"] as? [String] ?? [])
            }
            #expect(
                Dictionary(uniqueKeysWithValues: omitted)
                    == ["apns": [], "gcm": ["badge"], "wns": ["data", "badge", "category"]])
        }
    }
}
