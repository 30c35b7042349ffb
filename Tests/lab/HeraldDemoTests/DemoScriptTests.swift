import HeraldEvents
import HeraldSandbox
import HeraldTime
import Testing

@testable import HeraldDemo

@Suite("The demo's script")
struct DemoScriptTests {
    private static let now = WallTime(milliseconds: 1_800_000_000_000)

    @Test(
        "An event decodes to its scene, or fails with the reason that the scene expects", arguments: DemoScript.scenes)
    func decodes(_ scene: DemoScene) {
        let event = DemoEvent(scene, number: 7, now: Self.now)
        var headers = HeaderList()
        for header in event.headers { headers.append(header.name, header.value) }
        var decoded = DecodedEvent()
        let failure = RecordDecoder().decode(
            topicKind: .request, topic: "notifications", partition: 0, offset: 0, value: event.value.span.bytes,
            headers: headers, into: &decoded)
        if let failure {
            #expect(scene.expected == [.unreadable(failure.reason)])
        } else {
            let known = PushServices.standard
            #expect(decoded.pushServices.map { known.names[$0] }.sorted() == scene.pushServices.sorted())
            #expect(scene.expected.map(\.pushService) == scene.pushServices)
            #expect(decoded.expiresAt == scene.expiresAfter.map { Self.now.advanced(by: $0) })
            #expect(decoded.notBefore == scene.notBeforeAfter.map { Self.now.advanced(by: $0) })
        }
    }

    @Test("It shows every outcome: quick and delayed retries, a split, and each failure that it can provoke")
    func complete() {
        let all = DemoScript.scenes.flatMap(\.expected)
        #expect(all.contains { $0.outcome == .delivered && $0.calls == 1 && !$0.waits })
        #expect(all.contains { $0.outcome == .delivered && $0.calls > 1 && !$0.waits })
        #expect(all.contains { $0.outcome == .delivered && $0.calls > 1 && $0.waits })
        #expect(DemoScript.scenes.contains { $0.notBeforeAfter != nil })
        #expect(
            DemoScript.scenes.contains { scene in
                scene.expected.count == 3 && scene.expected.count { $0.outcome == .delivered } == 2
            })
        #expect(all.contains { $0.outcome == .expired })
        #expect(
            DemoScript.scenes.contains { !$0.optOut.isEmpty && $0.expected.allSatisfy { $0.outcome == .suppressed } })
        #expect(
            DemoScript.scenes.contains { $0.isAsleep && $0.expected.allSatisfy { $0.suppression == .quietExpired } })
        #expect(
            DemoScript.scenes.contains { scene in
                let text = String(decoding: DemoEvent(scene, number: 7, now: Self.now).value, as: UTF8.self)
                return ContentField.allCases.allSatisfy { text.contains("\"\($0.rawValue)\":") }
            })
        let reasons = Set(all.compactMap(\.reason))
        #expect(reasons == [.malformed, .invalid, .oversized, .rejected, .attemptsExhausted])
    }

    @Test("Each scene has its own user, and its rules affect no other")
    func users() {
        #expect(Set(DemoScript.scenes.map(\.user)).count == DemoScript.scenes.count)
        for scene in DemoScript.scenes { #expect(scene.rules.allSatisfy { $0.user == scene.user }) }
    }

    @Test("The first scene is delivered by the first call")
    func first() {
        #expect(DemoScript.scenes[0].expected.allSatisfy { $0.outcome == .delivered && $0.calls == 1 })
    }

    @Test(
        "The idempotency key yields number and push service, only for the demo's own keys",
        arguments: [
            ("demo-7:ada:apns", true), ("demo-7:ada:%2Fherald:apns", true), ("demo-7", false), ("demo-7:apns", false),
            ("demo-x:ada:apns", false), ("other-7:ada:apns", false), ("sha256:00", false), ("", false),
        ])
    func keys(_ key: String, _ isKnown: Bool) {
        let parsed = DemoEvent.parse(idempotencyKey: key)
        #expect((parsed != nil) == isKnown)
        if let parsed { #expect(parsed == (7, "apns")) }
    }
}
