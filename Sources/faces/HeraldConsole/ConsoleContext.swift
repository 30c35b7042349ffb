package import HeraldCampaigns
package import HeraldReplay

/// The environment of the console's parts: the cluster as each tool sees it, made from the settings once.
package struct ConsoleContext: Sendable {
    package var replay: ReplayContext
    package var campaigns: CampaignContext
    package var failures: FailuresContext
    package var starts: CampaignStartRules
    package var timeline: TimelineContext
    package var now: NowPlan

    package init(
        replay: ReplayContext, campaigns: CampaignContext, failures: FailuresContext, starts: CampaignStartRules,
        timeline: TimelineContext, now: NowPlan
    ) {
        self.replay = replay
        self.campaigns = campaigns
        self.failures = failures
        self.starts = starts
        self.timeline = timeline
        self.now = now
    }
}
