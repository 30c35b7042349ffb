extension PublishEnd {
    /// How it ended, in a sentence; what a broker said in it is as it came.
    ///
    /// - Parameters:
    ///   - again: how the rest is published.
    ///   - cause: why it is paused, as far as that was said.
    package func sentence(
        _ progress: PublishProgress, name: String, again: String, pausedBecause cause: String? = nil
    ) -> String {
        let published =
            "\(CampaignWords.number(progress.published)) of \(CampaignWords.number(progress.recipients)) recipients "
            + "published"
        return switch self {
        case .complete:
            "All published: \(CampaignWords.counted(progress.outcomes.delivered, "notification")) delivered, "
                + "\(CampaignWords.number(progress.undelivered)) not."
        case .interrupted:
            "Interrupted, \(published), \(CampaignWords.number(progress.open)) notifications without an outcome; \(again)."
        case .paused:
            "The campaign is paused because too many failed\(cause.map { " (\($0))" } ?? ""), \(published), "
                + "\(outcomes(progress)). When the cause is gone: herald campaign resume \(name)"
                + (progress.published < progress.recipients ? ", and \(again)." : ".")
        case .cancelled: "The campaign was cancelled, \(published), \(outcomes(progress))."
        case .expired:
            "The campaign's events have expired, \(published), \(outcomes(progress)); nothing more is sent."
        case .takenOver:
            "It ends, because another publisher of campaign \(name) has taken over; nobody is notified twice."
        case .failed(let failure): "\(failure); \(published)"
        }
    }

    private func outcomes(_ progress: PublishProgress) -> String {
        "of \(CampaignWords.counted(progress.events * progress.outcomesPerEvent, "notification")) \(progress.outcomeWords)"
    }
}
