import FoundationEssentials
import HeraldEvents
import HeraldTime
import HeraldTools

@testable import HeraldCampaigns

/// Records of campaigns in the form that topics have.
enum Samples {
    static let start: Int64 = 1_795_284_000_000

    static func definition(_ name: String = "spring", pns: [String] = ["apns", "gcm"]) -> CampaignDefinition {
        CampaignDefinition(
            name: name, message: "Hi {{first_name}}", pns: pns, topic: "notifications.bulk", startedAt: start,
            startedBy: "ann@web1", requestOffsets: ["0": 5], resultOffsets: ["0": 7, "1": 0])
    }

    static func progress(
        recipients: Int = 100, published: Int = 100, isComplete: Bool = true, at: Int64 = start,
        outcomes: [String: Int] = [:], audience: String? = nil, rampWait: RampWait? = nil, end: String? = nil,
        finishedAt: Int64? = nil
    ) -> CampaignProgress {
        CampaignProgress(
            recipients: recipients, audience: audience, published: published, repeats: 0, invalid: 0,
            rampWait: rampWait, end: end, finishedAt: finishedAt, isComplete: isComplete, at: at,
            by: "ann@web1 pid 7", outcomes: outcomes, resultOffsets: ["0": 9])
    }

    static func control(_ state: CampaignControl.State, by: String = "ann@web1", reason: String? = nil)
        -> CampaignControl
    {
        CampaignControl(
            state: state, at: WallTime(milliseconds: start), by: by, reason: reason, pauseIfFailures: 0.05)
    }

    static func campaign(
        _ state: CampaignControl.State = .running, progress: CampaignProgress? = progress()
    ) -> CampaignIndex.Campaign {
        var index = CampaignIndex()
        index.add(key: bytes("spring/definition"), value: json(definition()), place: "0:0")
        if let progress { index.add(key: bytes("spring/progress"), value: json(progress), place: "0:1") }
        index.add(key: bytes("spring"), value: control(state).encoded(), place: "0:2")
        return index.campaign("spring") ?? CampaignIndex.Campaign(name: "missing")
    }

    /// A result in the form that a worker writes.
    static func result(
        _ outcome: String, user: String = "u1", pns: String? = "apns", reason: String? = nil, status: Int? = nil,
        replays: Int = 0, at: Int64 = start, campaign: String = "spring"
    ) throws -> NotificationResult {
        var members = [#""id":"\#(user)-id""#, #""user":"\#(user)""#, #""outcome":"\#(outcome)""#]
        if let pns { members.append(#""pns":"\#(pns)""#) }
        if let reason { members.append(#""reason":"\#(reason)""#) }
        if let status { members.append(#""status":\#(status)"#) }
        if replays > 0 { members.append(#""replays":\#(replays)"#) }
        members += [
            #""completedAt":"\#(WallTime(milliseconds: at).text)""#, #""campaign":"\#(campaign)""#,
            #""origin":{"topic":"notifications.bulk","partition":0,"offset":1}"#,
        ]
        return try NotificationResult(decoding: bytes("{\(members.joined(separator: ","))}"))
    }

    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
}

extension Samples {
    /// A record's JSON.
    static func json(_ value: some Encodable) -> [UInt8] {
        (try? JSONEncoder().encode(value)).map { Array($0) } ?? []
    }
}
