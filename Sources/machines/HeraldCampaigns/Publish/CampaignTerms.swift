internal import HeraldEvents
internal import HeraldText
internal import HeraldTools

/// By what a campaign's publishing is bounded: what a start was given, or else what its last start had.
struct CampaignTerms: Sendable, Equatable {
    /// Recipients a second at most; `nil` for no bound.
    let rate: Double?
    /// The sizes of the ramp's steps; empty for none.
    let ramp: [Int]
    /// At how many published recipients it waits for its operator; empty for nowhere.
    let holds: [Int]
    /// The share of failed outcomes above which it pauses itself; `nil` for none.
    let pauseIfFailures: Double?

    /// - Parameters:
    ///   - definition: of a campaign that goes on; `nil` for a new one.
    ///   - former: how far it was published; `nil` before its first event.
    ///   - control: what it was to do last.
    init(
        _ order: CampaignOrder, _ definition: CampaignDefinition?, _ former: CampaignProgress?,
        _ control: CampaignControl?
    ) {
        rate = order.rate ?? former?.rate ?? definition?.rate
        holds = order.holds ?? former?.holds ?? definition?.holds ?? []
        ramp = order.ramp ?? former?.ramp ?? definition?.ramp ?? []
        pauseIfFailures = order.pauseIfFailures ?? control?.pauseIfFailures
    }

    /// What stays because the order has no other, as options: `--ramp 1,10,100`.
    func kept(_ order: CampaignOrder) -> [String] {
        var options: [String] = []
        if order.rate == nil, let rate { options.append("--rate \(CampaignWords.rate(rate))") }
        if order.ramp == nil, !ramp.isEmpty {
            options.append("--ramp \(ramp.map(String.init).joined(separator: ","))")
        }
        if order.holds == nil, !holds.isEmpty {
            options.append("--hold-after \(holds.map(String.init).joined(separator: ","))")
        }
        if order.pauseIfFailures == nil, let share = pauseIfFailures {
            options.append("--pause-if-failures \(ShareText.text(share))")
        }
        return options
    }
}
