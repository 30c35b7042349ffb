internal import HeraldEvents
package import HeraldText
package import HeraldTime
package import HeraldTools

/// An order about a campaign as it stands now: what it comes to, and its consequences in numbers.
package struct ControlPlan: Sendable {
    package let order: ControlOrder
    package let campaign: CampaignIndex.Campaign
    package let status: CampaignStatus

    package init(_ order: ControlOrder, _ status: CampaignStatus) {
        self.order = order
        self.status = status
        campaign = status.campaign
    }

    /// What is to be written; `nil` when the campaign is in that state already.
    package func control(at moment: WallTime, by name: String, reason: String?) throws(ToolFailure) -> ControlRecord? {
        switch order.decision(for: campaign, isFinished: status.isFinished, at: moment, by: name, reason: reason) {
        case .write(let control): return control
        case .unchanged: return nil
        case .isCancelled(let control):
            throw ToolFailure(
                "campaign \(campaign.name) was cancelled \(CampaignWords.origin(of: control)), which is for ever; "
                    + "start another one under a new name")
        case .isFinished:
            throw ToolFailure(
                "campaign \(campaign.name) is finished: all of its \(CampaignWords.number(status.count.known)) outcomes "
                    + "are known, and there is nothing left to \(order.rawValue)")
        case .isPaused:
            throw ToolFailure(
                "campaign \(campaign.name) is paused: what is open is suspended, and would stay so; resume or cancel it"
            )
        case .isUnpublished(let count):
            throw ToolFailure(
                "campaign \(campaign.name) is not finished: \(CampaignWords.counted(count, "recipient")) "
                    + "\(count == 1 ? "is" : "are") not published; start it again with the same audience, or cancel it")
        }
    }

    /// What to say when nothing is to be written.
    package var unchanged: String {
        status.isFinished
            ? "Campaign \(campaign.name) is finished: all of its \(CampaignWords.number(status.count.known)) outcomes are "
                + "known, and nothing is left to \(order.rawValue)."
            : "Campaign \(campaign.name) is \(campaign.state.rawValue) already."
    }

    /// What follows from it, in a sentence for the operator, who has to confirm it.
    package var consequence: String {
        let counts =
            "\(CampaignWords.number(status.count.delivered)) notifications are delivered; "
            + "\(CampaignWords.number(status.open)) that are published "
        let rest = CampaignWords.number(status.unpublished)
        switch order {
        case .resume where isGo: return go
        case .pause:
            return counts + "wait until it is resumed"
                + (status.unpublished > 0 ? ", and \(rest) are not published before." : ".")
        case .resume:
            guard status.unpublished > 0 else { return counts + "go on." }
            if status.isWithoutPublisher {
                return counts
                    + "go on. Nobody publishes the other \(rest) any more: "
                    + (status.isDetached
                        ? "a console that may make changes or herald campaign run does afterwards; nobody is notified twice."
                        : "afterwards start it again with the same audience; nobody is notified twice.")
            }
            let publishes = counts + "go on, and \(rest) are still to be published by its publisher"
            guard let silence = status.silence, silence > AudiencePublication.signInterval else {
                return publishes + "."
            }
            return publishes
                + ", if that is at work: it reports every \(AudiencePublication.signInterval.wholeSeconds) s, and did so "
                + "\(silence.wholeSeconds) s ago. If the campaign is stopped afterwards, start it again with the same audience; "
                + "nobody is notified twice."
        case .cancel:
            return counts + "end as cancelled"
                + (status.unpublished > 0 ? ", and \(rest) are never published" : "")
                + ". A cancelled campaign cannot be started again."
        case .finish:
            return "\(CampaignWords.number(status.count.delivered)) notifications are delivered; "
                + "\(CampaignWords.number(status.open)) that are open are left to their retries, and may still be "
                + "delivered. The campaign counts as finished."
        }
    }

    /// Whether it lets the campaign go on behind its hold.
    private var isGo: Bool { order == .resume && campaign.state == .running && campaign.hold != nil }

    private var was: String { isGo ? CampaignStatus.State.waiting.rawValue : campaign.state.rawValue }

    /// What is known of those who are published, and how far the campaign goes on.
    private var go: String {
        let everybody = campaign.progress?.everybody ?? 0
        let hold = campaign.hold ?? 0
        let next = campaign.holds.next(from: hold + 1).map { min($0, everybody) } ?? everybody
        let outcomes =
            ["\(CampaignWords.number(status.count.delivered)) delivered"]
            + status.count.allUnreached.filter { $0.outcome.standing == .failed || $0.count > 0 }
            .map { "\(CampaignWords.number($0.count)) \($0.name)" } + ["\(CampaignWords.number(status.open)) open"]
        let goes =
            "Of the \(CampaignWords.counted(status.published, "notification")) to the first "
            + "\(CampaignWords.counted(hold, "recipient")): \(outcomes.joined(separator: ", ")). It goes on with the next "
            + "\(CampaignWords.number(next - hold))"
            + (next < everybody ? ", and waits for you again." : ", to the end.")
        guard status.isWithoutPublisher else { return goes }
        return goes
            + (status.isDetached
                ? " A console that may make changes or herald campaign run publishes them."
                : " Nobody publishes them any more: afterwards start it again with the same audience; nobody is notified twice.")
    }

    /// What was done, as the commands' `-o json` has it.
    ///
    /// - Parameter control: what was written; `nil` when nothing was.
    package func members(_ control: ControlRecord?) -> [JSONValue.Member] {
        let present = control ?? campaign.control.map(ControlRecord.state)
        return [
            .init("name", .string(campaign.name)), .init("was", .string(was)),
            .init("is", .string((present?.state ?? campaign.state).rawValue)), .init("changed", .bool(control != nil)),
            .init("at", .text(present?.at.text)), .init("by", .text(present?.by)),
            .init("reason", .text(present?.reason)),
        ]
    }
}
