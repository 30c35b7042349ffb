import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@Suite("The control record of a campaign")
struct CampaignControlTests {
    @Test("A record is read back as it was written", arguments: CampaignControl.State.allCases)
    func roundTrip(state: CampaignControl.State) throws {
        let control = CampaignControl(
            state: state, at: WallTime(milliseconds: 1_700_000_000_123), by: "anna@host", reason: "a \"test\"\n",
            pauseIfFailures: 0.05, cause: state == .paused ? .failures : nil)
        #expect(try CampaignControl(decoding: control.encoded().span.bytes) == control)
        let short = CampaignControl(state: state, at: WallTime(milliseconds: 0), by: "")
        #expect(try CampaignControl(decoding: short.encoded().span.bytes) == short)
    }

    @Test("A cancellation has a key of its own, and other records of the campaign are not taken for one")
    func keys() {
        func campaign(_ key: [UInt8]) -> String? { CampaignControl.campaign(ofKey: key.span.bytes) }
        #expect(campaign(CampaignControl.key(of: "autumn-26")) == "autumn-26")
        #expect(campaign(CampaignControl.cancellationKey(of: "autumn-26")) == "autumn-26")
        for key in ["autumn-26/definition", "autumn-26/progress", "", "/cancelled", "a b", "a/b/cancelled"] {
            #expect(campaign(Array(key.utf8)) == nil, "\(key)")
        }
        #expect(!CampaignControl.isName(String(repeating: "a", count: 65)))
    }

    @Test(
        "A damaged record is refused with its reason",
        arguments: [
            "", "[]", #"{"state":"asleep","at":"2026-11-21T08:40:26Z"}"#, #"{"state":"paused"}"#,
            #"{"state":"running","at":"2026-11-21T08:40:26Z","pauseIfFailures":1.5}"#,
            #"{"state":"running","at":"2026-11-21T08:40:26Z","pauseIfFailures":0}"#,
            #"{"state":"running","at":"2026-11-21T08:40:26Z","pauseIfFailures":"0.5"}"#,
        ])
    func damaged(text: String) {
        #expect(throws: InvalidArgument.self) { try CampaignControl(decoding: text.utf8.span.bytes) }
    }
}
