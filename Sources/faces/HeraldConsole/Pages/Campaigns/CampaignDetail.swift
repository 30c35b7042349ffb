internal import HeraldCampaigns
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// The state of one campaign, for its page.
struct CampaignDetail: Sendable {
    private static let turn = Duration.milliseconds(250)
    private static let feedbackPause = Duration.seconds(60)
    /// The time limit for reading feedback: if reading takes longer, it is done only once.
    private static let feedbackPatience = Duration.seconds(5)

    /// Its status; `nil` while its outcomes are read for the first time.
    var status: CampaignStatus?
    var feedback: FeedbackCount?
    /// Whether brokers that answered before are silent now.
    var isSilent = false
    var passed: Int64 = 0
    var total: Int64 = 0
    /// Results deleted by the topic's retention before they could be counted.
    var deletedCount: Int64 = 0

    func json(_ name: String) -> JSONValue {
        let command = JSONValue.words(["herald", "campaign", "status", name])
        guard let status else {
            return [
                "state": "reading", "passed": .integer(Int(passed)), "total": .integer(Int(total)), "command": command,
            ]
        }
        let members: [JSONValue.Member] = [
            .init("state", "done"), .init("campaign", status.json(feedback)),
            .init("total", status.total.map(JSONValue.integer) ?? .null), .init("isOver", .bool(status.isOver)),
            .init("isSilent", .bool(isSilent)), .init("isBacklogKnown", .bool(status.backlog != nil)),
            .init("isBacklogPartly", .bool(status.backlog?.isPartly ?? false)),
            .init("deleted", .integer(Int(deletedCount))), .init("command", command),
        ]
        return JSONValue.present(members).safe
    }

    /// - Parameter isBegun: whether this console is at work on it, so that its first record may be still to come.
    static func follow(
        _ name: String, _ service: CampaignService, isBegun: () -> Bool, _ work: AskedTasks<CampaignDetail>.Work
    ) throws {
        var detail = CampaignDetail()
        let (context, layout) = (service.context, try service.layout())
        let campaigns = try context.campaigns(layout)
        defer { campaigns.close() }
        while work.isWanted {
            // Asked first: whoever ends meanwhile has written it.
            let isBegun = isBegun()
            try campaigns.catchUp()
            if !isBegun || campaigns.index.campaign(name) != nil { break }
            try campaigns.poll(wait: Milliseconds(turn))
        }
        let campaign = try CampaignService.campaign(name, in: campaigns.index)
        let follower = try CampaignFollower(context, layout, campaign, campaigns: campaigns)
        defer { follower.close() }
        let isWhole = try follower.catchUp(
            onProgress: { passed, total in
                (detail.passed, detail.total) = (passed, total)
                work.publish(detail)
                return work.isWanted
            }, isStopping: { !work.isWanted })
        guard isWhole else { return }
        var nextFeedback: ContinuousClock.Instant? = .now
        while work.isWanted {
            (detail.status, detail.isSilent) = (follower.status, follower.isSilent)
            detail.deletedCount = follower.deletedCount
            work.publish(detail)
            if let next = nextFeedback, let definition = detail.status?.campaign.definition, .now >= next {
                let begin = ContinuousClock.now
                detail.feedback = try context.feedback(on: definition, layout) { _, _ in work.isWanted }
                let isQuick = ContinuousClock.now - begin < feedbackPatience
                nextFeedback = isQuick ? .now + feedbackPause : nil
            }
            try follower.poll(for: turn, isStopping: { !work.isWanted })
        }
    }
}
