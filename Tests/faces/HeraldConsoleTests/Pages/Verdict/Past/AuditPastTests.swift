import HeraldTime
import HeraldTools
import Testing

@testable import HeraldConsole

@Suite("What the audit topic tells of the day")
struct AuditPastTests {
    private static let now = WallTime(milliseconds: 1_700_000_000_000)

    private static func record(
        _ action: String, hoursAgo: Int64, phase: String = "done", end: String? = nil, reason: String? = nil
    ) -> AuditRecord {
        let at = now.advanced(by: .hours(-hoursAgo))
        var entry = AuditEntry(action: action, phase: phase, at: at.text, by: "ann@ops")
        (entry.selection, entry.end, entry.reason) = ("spring", end, reason)
        return AuditRecord(partition: 0, offset: 0, at: at, value: entry.encoded())
    }

    @Test("has what was done about campaigns, by whom and why, in the order of time, and forgets it after a day")
    func campaigns() {
        var past = AuditPast()
        for record in [
            Self.record("campaign.resume", hoursAgo: 1), Self.record("campaign.pause", hoursAgo: 2, reason: "the link"),
            Self.record("campaign.start", hoursAgo: 30, phase: "started"), Self.record("campaign.reveal", hoursAgo: 1),
            Self.record("campaign.start", hoursAgo: 0, phase: "ended", end: "complete"),
            Self.record("campaign.start", hoursAgo: 0, phase: "ended", end: "failed"),
            Self.record("dlq.replay", hoursAgo: 1, phase: "started"),
        ] { past.add(record) }
        past.forget(now: Self.now)
        let spans = past.campaigns.map(\.span)
        #expect(
            spans.map(\.title) == [
                "Campaign spring was paused", "Campaign spring was resumed", "Campaign spring is finished",
            ])
        #expect(spans[0].what == "by ann@ops: the link" && spans[0].from == spans[0].to && !spans[0].isPresent)
        #expect(past.skips.isEmpty)
    }
}
