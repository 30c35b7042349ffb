package import HeraldAccount
package import HeraldCampaigns
package import HeraldDriver
package import HeraldKafka
package import HeraldReplay
package import HeraldTime
package import HeraldTimeline
package import HeraldTools

/// The environment of the console's parts: the cluster as each tool sees it, made from the settings once.
package struct ConsoleContext: Sendable {
    package var replay: ReplayContext
    package var campaigns: CampaignContext
    package var starts: CampaignStartRules
    package var search: TimelineSearch
    package var account: AccountReader
    package var words: LastWordContext
    /// Those that quiet hours may name.
    package var zones = TimeZones()
    /// `preferences.defaultZone`.
    package var defaultZone: String?
    package var now: NowPlan
    package var reach: ClusterReach
    package var admin: Admin
    /// The settings file, for the displayed commands; `nil` without one.
    package var configuration: String?
    /// What the settings decide about an event.
    package var situation: @Sendable (WallTime) -> Explanation.Situation

    package init(
        replay: ReplayContext, campaigns: CampaignContext, starts: CampaignStartRules, search: TimelineSearch,
        account: AccountReader, words: LastWordContext, now: NowPlan, reach: ClusterReach, admin: Admin,
        configuration: String?,
        situation: @escaping @Sendable (WallTime) -> Explanation.Situation
    ) {
        self.replay = replay
        self.campaigns = campaigns
        self.starts = starts
        self.search = search
        self.account = account
        self.words = words
        self.now = now
        self.reach = reach
        self.admin = admin
        self.configuration = configuration
        self.situation = situation
    }

    /// The same with this viewer's name in the audit.
    func signed(by name: String) -> Self {
        var context = self
        (context.replay.operatorName, context.campaigns.operatorName, context.words.operatorName) = (name, name, name)
        return context
    }

    /// A replayer that has looked at the topics; blocks for the brokers' answers.
    func replayer(isWriting: Bool) throws -> Replayer {
        try Replayer(replay, reach: reach, admin: Admin(properties: now.clientProperties), isWriting: isWriting)
    }
}

/// What the pages Verdict and Now watch, from the settings.
package struct NowPlan: Sendable {
    /// Herald's topics, and the workers.
    let search: TimelineSearch
    let reach: ClusterReach
    /// What the settings want of the topics.
    let wishes: TopicWishes
    /// librdkafka's properties for the client that asks about topics and the group.
    let clientProperties: ClientProperties
    /// Those of a `read_uncommitted` reader with the group's `group.id`, which joins nothing and is told where partitions end.
    let groupProperties: ClientProperties
    /// The same, `read_committed`.
    let readerProperties: ClientProperties
    /// The file of settings that commands are told to name; `nil` when the console was not told one.
    let configuration: String?

    package init(
        search: TimelineSearch, reach: ClusterReach, wishes: TopicWishes, clientProperties: ClientProperties,
        groupProperties: ClientProperties, readerProperties: ClientProperties, configuration: String? = nil
    ) {
        self.configuration = configuration
        self.search = search
        self.reach = reach
        self.wishes = wishes
        self.clientProperties = clientProperties
        self.groupProperties = groupProperties
        self.readerProperties = readerProperties
    }

    /// How long the console waits for a cluster's first answer before it says that no broker answers.
    package static let patience = Duration.seconds(4)
}
