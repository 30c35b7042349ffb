extension Bystanders {
    /// Campaigns whose users are rejected, beside others: the campaign is paused, and the others are not affected.
    static let campaigns = [
        Self(
            description: "all of a campaign is rejected", status: 400, events: 5_000, users: 5_000, isCampaign: true,
            isKnown: true, bound: 60, mostAnswers: 300),
        Self(
            description: "all of a campaign is rejected, beside few others", status: 404, events: 5_000, users: 5_000,
            isCampaign: true, isKnown: true, codes: 1, bound: 60, mostAnswers: 300),
        Self(
            description: "all of a campaign is rejected, in the topic of the others", status: 404, events: 5_000,
            users: 5_000, isKnown: true, bound: 1_500, mostAnswers: 300),
        Self(
            description: "all of a slow campaign is rejected, in the topic of many others", status: 400, events: 3_000,
            users: 3_000, isKnown: true, eventsWithCode: 1, codes: 50, bound: 60, mostAnswers: 300),
        Self(
            description: "two of three of a campaign are rejected", every: -3, status: 404, events: 5_000, users: 5_000,
            isCampaign: true, isKnown: true, codes: 1, bound: 60, mostAnswers: 300),
    ]
}
