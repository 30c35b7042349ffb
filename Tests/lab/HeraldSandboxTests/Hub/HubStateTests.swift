import HeraldText
import HeraldTime
import Testing

@testable import HeraldSandbox

@Suite("The emulated hub's state")
struct HubStateTests {
    private func context(_ milliseconds: Int64) -> HubState.Context {
        HubState.Context(
            hubURL: "https://h/herald", feedbackURL: "", time: milliseconds,
            now: MonotonicTime(nanoseconds: milliseconds * 1_000_000))
    }

    private func state(_ change: (inout HubEmulator.Configuration) -> Void = { _ in }) -> HubState {
        var configuration = HubEmulator.Configuration()
        change(&configuration)
        return HubState(configuration, seed: 1)
    }

    private let notification = HubNotification(
        format: "apple", platform: .apns, audience: .everybody, headers: [], contentType: "application/json", body: [])

    /// Sends at a given time; returns the status and the id.
    private func send(
        _ state: inout HubState, at time: Int64, _ change: (inout HubNotification) -> Void = { _ in }
    ) -> (status: Int, id: String) {
        var notification = notification
        change(&notification)
        var record: HubSend? = HubSend(
            number: 0, receivedAt: time, kind: .tags, isTest: false, format: "apple", headers: [], body: [],
            outcomes: [:])
        let kind: HubSend.Kind = notification.scheduledAt == nil ? .tags : .scheduled
        let reply = state.send(notification, kind, record: &record, context(time))
        record?.status = reply.status
        if let record { _ = state.sends.append(record) }
        return (reply.status, record?.messageID ?? "")
    }

    /// The state's name in telemetry, or the status when there is none.
    private func telemetry(_ state: inout HubState, _ id: String, at time: Int64) -> String {
        state.sendDue(time)
        let reply = state.telemetry(id, context(time))
        guard reply.status == 200 else { return "\(reply.status)" }
        let text = String(decoding: reply.body, as: UTF8.self)
        return text.firstMatch(of: /<State>(.*)<\/State>/).map { String($0.1) } ?? text
    }

    @Test("A message is unknown, enqueued, in progress and final as time passes")
    func timing() {
        var state = state {
            $0.unknownTime = .milliseconds(10)
            $0.processingTime = .milliseconds(100)
        }
        let id = send(&state, at: 1_000).id
        #expect(
            [1_000, 1_009, 1_010, 1_049, 1_050, 1_099, 1_100].map { telemetry(&state, id, at: $0) } == [
                "404", "404", "Enqueued", "Enqueued", "Processing", "Processing", "NoTargetFound",
            ])
    }

    @Test("Scheduled messages are sent in the order of their times, and are known before")
    func scheduled() {
        var state = state()
        let registration = HubRegistration(platform: .apns, handle: "AA", tags: [])
        _ = state.registrations.put(registration, id: "1", at: 0)
        let late = send(&state, at: 0) { ($0.scheduledAt, $0.body) = (200, [2]) }.id
        let early = send(&state, at: 0) { ($0.scheduledAt, $0.body) = (100, [1]) }.id
        #expect(telemetry(&state, early, at: 99) == "Scheduled")
        #expect(telemetry(&state, early, at: 100) == "Completed")
        #expect(telemetry(&state, late, at: 199) == "Scheduled")
        #expect(state.inbox.entries(of: "AA").map(\.body) == [[1]])
        #expect(telemetry(&state, late, at: 1_000) == "Completed")
        #expect(state.inbox.entries(of: "AA").map(\.body) == [[1], [2]])
    }

    @Test("The whole limit can be used in each minute, and refused sends do not count")
    func minutes() {
        var state = state { $0.sendsPerMinute = 100 }
        var taken = 0
        for second in 0..<600 {
            for _ in 0..<5 where send(&state, at: Int64(second) * 1_000).status == 201 { taken += 1 }
        }
        #expect(taken == 1_000)
    }

    @Test("An ended registration gets nothing, and one whose channel is gone is deleted with its installation's")
    func ends() throws {
        var state = state { $0.outcomes = [HubOutcomeRule("BadChannel", handle: "BB")] }
        var ending = HubRegistration(platform: .apns, handle: "AA", tags: [])
        ending.expiresAt = 50
        _ = state.registrations.put(ending, id: "1", at: 0)
        let document = try JSONValue(document: Array(#"{"platform":"apns","pushChannel":"bb"}"#.utf8))
        let installation = try HubInstallation(id: "i", document)
        #expect(state.put(installation, context(0)).status == 200)
        _ = send(&state, at: 49)
        #expect(state.inbox.entries(of: "AA").count == 1)
        _ = send(&state, at: 50)
        #expect(state.inbox.entries(of: "AA").count == 1)
        #expect(state.sends.elements.map(\.outcomes) == [[.apns: ["BadChannel": 1, "Success": 1]], [:]])
        let read = state.installation("i", context(60))
        #expect(String(decoding: read.body, as: UTF8.self).contains(#""pushChannelExpired":true"#))
    }

    @Test("The newest sends are kept, by number and by size")
    func bounds() {
        var state = state { $0.sendLimit = 3 }
        let ids = (0..<5).map { _ in send(&state, at: 0).id }
        #expect(state.sends.elements.map(\.number) == [3, 4, 5])
        #expect(telemetry(&state, ids[1], at: 0) == "404")
        #expect(telemetry(&state, ids[2], at: 0) == "NoTargetFound")
        var log = SendLog(limit: 1_000_000)
        let large = HubSend(
            number: 0, receivedAt: 0, kind: .tags, isTest: false, headers: [],
            body: Array(repeating: 0, count: 1 << 20), outcomes: [:])
        for _ in 0..<300 { _ = log.append(large) }
        #expect(log.elements.reduce(0) { $0 + $1.body.count } <= SendLog.limitBytes)
        #expect(log.elements.last?.number == 300)
    }

    @Test("Tags may be case-insensitive")
    func tagCase() throws {
        for ignores in [false, true] {
            var state = state { $0.guesses.tagsIgnoreCase = ignores }
            _ = state.registrations.put(HubRegistration(platform: .apns, handle: "AA", tags: ["Ann"]), id: "1", at: 0)
            let expression = try TagExpression(parsing: "aNN && !other")
            _ = send(&state, at: 0) { $0.audience = .tags(expression) }
            #expect(state.inbox.entries(of: "AA").count == (ignores ? 1 : 0))
        }
    }
}
