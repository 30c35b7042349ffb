import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldDemo
@testable import HeraldSandbox

@Suite("The demo over a hub")
struct DemoHubTests {
    @Test(
        "A send is identified by the number in its payload, in any format",
        arguments: [("apple", "apns"), ("fcmv1", "gcm"), ("windows", "wns")])
    func known(format: String, pushService: String) throws {
        let event = DemoEvent(
            DemoScript.hubScenes[0], number: 42, now: WallTime(milliseconds: 0), isNumbered: true)
        let text = String(decoding: event.value, as: UTF8.self)
        let send = HubSend(
            number: 3, receivedAt: 5, kind: .tags, isTest: false, format: format, tags: "username:alice", headers: [],
            body: Array(text.utf8), status: 201, outcomes: [:])
        let call = RecordedCall(send)
        #expect(call.user == "alice")
        #expect(call.status == 201)
        let key = try #require(call.idempotencyKey.flatMap { DemoEvent.parse(idempotencyKey: $0) })
        #expect(key.number == 42)
        #expect(key.pushService == pushService)
    }

    @Test("Its scenes are the demo's, delivered with 201, and its rules name formats")
    func scenes() {
        #expect(DemoScript.hubScenes.map(\.user) == DemoScript.scenes.map(\.user))
        let delivered = DemoScript.hubScenes.flatMap(\.expected).filter { $0.outcome == .delivered }
        #expect(delivered.allSatisfy { $0.status == 201 })
        #expect(Set(DemoScript.hubMisbehaviour.compactMap(\.pns)) == ["fcmv1"])
    }
}
