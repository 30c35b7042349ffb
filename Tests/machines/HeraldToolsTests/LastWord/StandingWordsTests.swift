import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@testable import HeraldTools

@Suite("What words say now of events that wait")
struct StandingWordsTests {
    private static let since = WallTime(milliseconds: 1_800_000_000_000)

    private static func words(
        _ entries: [String: [String]] = [:], recalls: [Recall.Subject: Recall] = [:]
    ) -> StandingWords {
        let words = entries.mapValues { entries in
            var optOut = OptOut()
            for entry in entries { _ = optOut.insert(entry, knowing: .standard) }
            return LastWordContext.Entry(preference: Preference(optOut, updatedAt: since, by: "settings"))
        }
        return StandingWords(
            words, recalls, pushServices: .standard, classes: ["notifications.bulk": .promotional])
    }

    private static func event(
        _ topic: String = "notifications", class eventClass: EventClass? = nil, id: String? = "e1",
        campaign: String? = nil
    ) -> StandingWords.Event {
        StandingWords.Event(
            id: id, user: "ann", source: "shop", campaign: campaign, eventClass: eventClass, topic: topic)
    }

    @Test(
        "An opt-out says what workers would do, by the stricter class",
        arguments: [
            (["promotional"], "notifications", nil, nil), (["promotional"], "notifications.bulk", nil, "promotional"),
            (["promotional"], "notifications", .promotional, "promotional"),
            (["promotional"], "notifications.bulk", .transactional, "promotional"),
            (["all"], "notifications", nil, "all"), (["pns:apns"], "notifications", nil, "pns:apns"),
            (["pns:gcm"], "notifications", nil, nil), (["source:shop"], "notifications", nil, nil),
            (["source:shop"], "notifications.bulk", nil, "source:shop"),
            (["source:web"], "notifications.bulk", nil, nil),
        ] as [([String], String, EventClass?, String?)])
    func optOuts(entries: [String], topic: String, eventClass: EventClass?, what: String?) {
        let said = Self.words(["ann": entries]).said(of: Self.event(topic, class: eventClass), on: "apns")
        #expect(said == what.map { .optedOut($0, since: Self.since, by: "settings") })
        #expect(Self.words(["bob": entries]).said(of: Self.event(topic, class: eventClass), on: "apns") == nil)
    }

    @Test("A broken record is not told as the user's own word")
    func broken() {
        var optOut = OptOut()
        optOut.isOfPromotional = true
        let place = LastWordContext.Place(partition: 0, offset: 7, at: Self.since)
        let entry = LastWordContext.Entry(
            preference: Preference(optOut), problem: "has no optOut", place: place)
        let words = StandingWords(["ann": entry], [:], pushServices: .standard, classes: [:])
        let said = words.said(of: Self.event(class: .promotional), on: "apns")
        #expect(
            said?.words
                == "a broken record counts as the user's opt-out of promotional since \(RFC3339.text(Self.since)): the "
                + "record at partition 0, offset 7, has no optOut")
        #expect(said?.json["problem"] == "the record at partition 0, offset 7, has no optOut")
    }

    @Test("A recall is that of the event itself, or of its campaign, and says by whom and why")
    func recalls() {
        let recall = Recall(at: Self.since, by: "ops", reason: "wrong price")
        let own = Self.words(recalls: [.event(id: "e1", user: "ann", source: "shop"): recall])
        #expect(own.said(of: Self.event(), on: "apns") == .recalled(recall, ofCampaign: false))
        #expect(own.said(of: Self.event(id: "e2"), on: "apns") == nil)
        #expect(own.said(of: Self.event(id: nil), on: "apns") == nil)
        let other = Self.words(recalls: [.event(id: "e1", user: "ann", source: nil): recall])
        #expect(other.said(of: Self.event(), on: "apns") == nil)
        let campaign = Self.words(recalls: [.campaign("spring"): recall])
        #expect(campaign.said(of: Self.event(campaign: "spring"), on: "gcm") == .recalled(recall, ofCampaign: true))
        #expect(campaign.said(of: Self.event(campaign: "autumn"), on: "gcm") == nil)
        #expect(
            StandingWords.Said.recalled(recall, ofCampaign: true).words
                == "its campaign is recalled by ops since \(RFC3339.text(Self.since)): wrong price")
    }
}
