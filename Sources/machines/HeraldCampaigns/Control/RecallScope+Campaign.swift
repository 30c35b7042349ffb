internal import HeraldEvents
internal import HeraldText
package import HeraldTools

extension RecallScope {
    /// What a recall of a campaign finds, in the numbers of its page: pure.
    ///
    /// - Parameter isWhole: whether all outcomes were counted.
    package init(_ status: CampaignStatus, isWhole: Bool) {
        let (open, unpublished) = (status.open, status.unpublished)
        let (delivered, suppressed) = (status.count.delivered, status.count.unreached(.suppressed))
        let left = open + unpublished
        var sentence = "\(CampaignWords.counted(left, "notification")) \(left == 1 ? "has" : "have") no outcome yet"
        if unpublished > 0 {
            sentence += ": \(CampaignWords.number(open)) published, \(CampaignWords.number(unpublished)) not"
        }
        sentence += ". \(CampaignWords.number(delivered)) delivered, \(CampaignWords.number(suppressed)) suppressed."
        if !isWhole { sentence += " Not all outcomes were counted, for lack of time: fewer are left." }
        self.init(
            left: left, sentences: [sentence],
            members: [
                .init("open", .integer(open)), .init("unpublished", .integer(unpublished)),
                .init("delivered", .integer(delivered)), .init("suppressed", .integer(suppressed)),
                .init("isWhole", .bool(isWhole)),
            ])
    }

    /// What a recall of a campaign finds that the campaigns topic does not know.
    ///
    /// - Parameter nearest: the name that was perhaps meant.
    package init(unknownCampaign name: String, nearest: String?) {
        let guess = nearest.map { "; did you mean \($0)?" } ?? "."
        self.init(
            left: nil,
            sentences: [
                "There is no campaign \(name)\(guess) Events that others publish with this label are recalled all the same."
            ], isKnown: false)
    }
}
