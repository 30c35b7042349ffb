import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools

/// What the audit topic tells of the last day: losses that were skipped, and what was done about campaigns.
///
/// Pure, fed with each record once.
struct AuditPast: Sendable {
    /// The newest that are kept of each kind.
    private static let limit = 200

    private(set) var skips: [SkippedLoss] = []
    private(set) var campaigns: [CampaignDeed] = []

    mutating func add(_ record: AuditRecord) {
        if let skip = SkippedLoss(record) { Self.insert(skip, into: &skips) { $0.at } }
        if let deed = CampaignDeed(record) { Self.insert(deed, into: &campaigns) { $0.at } }
    }

    mutating func forget(now: WallTime) {
        let oldest = now.advanced(by: .days(-1))
        skips.removeAll { $0.at < oldest }
        campaigns.removeAll { $0.at < oldest }
    }

    /// In the order of their times, whatever partitions they come from.
    private static func insert<Element>(_ new: Element, into list: inout [Element], _ at: (Element) -> WallTime) {
        list.insert(new, at: (list.lastIndex { at($0) <= at(new) } ?? -1) + 1)
        if list.count > limit { list.removeFirst() }
    }
}

/// What was done about a campaign, by whom.
struct CampaignDeed: Sendable, Equatable {
    var at: WallTime
    var campaign: String
    /// Such as `was paused`.
    var deed: String
    var by: String
    var reason: String?

    /// `nil` for every other entry.
    init?(_ record: AuditRecord) {
        guard let entry = record.entry, let campaign = entry.selection, let deed = Self.deed(entry) else { return nil }
        (at, self.campaign, self.deed) = (record.at, campaign, deed)
        (by, reason) = (entry.by, entry.reason)
    }

    private static func deed(_ entry: AuditEntry) -> String? {
        switch (entry.action, entry.phase, entry.end) {
        case ("campaign.pause", _, _): "was paused"
        case ("campaign.resume", _, _): "was resumed"
        case ("campaign.cancel", _, _): "was cancelled"
        case ("campaign.finish", _, _): "was declared finished"
        case ("campaign.start", "started", _): "was started"
        case ("campaign.start", "continued", _): "goes on"
        case ("campaign.start", "ended", "complete"): "is finished"
        case ("campaign.start", "ended", "interrupted"): "is not published any more"
        case _: nil
        }
    }

    /// It as an entry of the day: a moment.
    var span: VerdictLog.Span {
        let reason = reason.map { ": \(SafeText.escaped($0))" } ?? ""
        return VerdictLog.Span(
            key: "campaign-order", severity: .good, title: "Campaign \(SafeText.escaped(campaign)) \(deed)",
            what: "by \(SafeText.escaped(by))\(reason)", from: at, seen: at, to: at, isPresent: false)
    }
}
