import HeraldCampaigns
import HeraldCommandLine
import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldReplay
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTimeline
import HeraldTools

extension Settings {
    var topicWishes: TopicWishes {
        TopicWishes(
            names: topicNames, retryDelays: retry.delays,
            partitions: topics.partitions, replication: topics.replicationFactor == 0 ? nil : topics.replicationFactor,
            retention: Milliseconds(topics.retention), maxElapsed: Milliseconds(retry.maxElapsed),
            eventBytes: limits.eventBytes, wantsFeedback: target.wantsFeedback,
            wantsPreferences: preferences.enabled, caps: preferences.caps)
    }

    /// The follower's group: its offsets must not be mixed up with those of the workers.
    var feedbackGroup: String { kafka.group + "-feedback" }

    var clusterReach: ClusterReach { ClusterReach(bootstrapServers: kafka.bootstrapServers) }

    func adminClient() throws -> HeraldKafka.Admin {
        do {
            return try HeraldKafka.Admin(properties: KafkaClientSettings.common(self))
        } catch {
            throw ToolFailure(error)
        }
    }

    func campaignContext(environment: [String: String]) -> CampaignContext {
        var context = CampaignContext(
            topics: topicNames, readerProperties: KafkaClientSettings.toolReader(self),
            writerProperties: KafkaClientSettings.replayWriter(self),
            controlProperties: KafkaClientSettings.publisher(self),
            operatorName: Operator.name(environment: environment))
        context.workerTrouble = { workerTrouble(for: $0) }
        if let words = standingWords() {
            context.recalls = { names in
                try words().recalls(ofCampaigns: names, reach: clusterReach, admin: adminClient())
            }
        }
        return context
    }

    func replayContext(environment: [String: String]) throws -> ReplayContext {
        var context = ReplayContext(
            topics: topicNames, readerProperties: KafkaClientSettings.toolReader(self),
            writerProperties: KafkaClientSettings.replayWriter(self),
            auditProperties: KafkaClientSettings.publisher(self), decoder: try recordDecoder(),
            maximumReplays: retry.replays, operatorName: Operator.name(environment: environment))
        if preferences.enabled { context.retryTopics = retry.delays.map { topicNames.retryTopic($0) } }
        return context
    }

    /// - Parameter foreign: the topic of others whose dead letters these are; `nil` for Herald's own.
    func replayer(environment: [String: String], foreign: ForeignTopic? = nil, isWriting: Bool) throws -> Replayer {
        var context = try replayContext(environment: environment)
        context.foreign = foreign
        return try Replayer(context, reach: clusterReach, admin: adminClient(), isWriting: isWriting)
    }

    /// - Parameter isDiscreet: whether it leaves out what users said, and when.
    func timelineSearch(isDiscreet: Bool = false) throws -> TimelineSearch {
        TimelineSearch(
            topics: topicNames, delays: retry.delays,
            // As for every reader of millions of results.
            readerProperties: KafkaClientSettings.toolReader(self),
            decoder: try recordDecoder(),
            group: WorkerGroup(name: kafka.group, listen: adminAddress, named: namedWorkers, token: adminToken),
            words: standingWords(isDiscreet: isDiscreet))
    }

    /// Where users and recalls say what ends events without a call; `nil` when workers do not obey them.
    func standingWords(isDiscreet: Bool = false) -> (@Sendable () throws -> LastWordContext)? {
        guard preferences.enabled else { return nil }
        return {
            var context = try lastWordContext(environment: [:])
            context.isDiscreet = isDiscreet
            return context
        }
    }

    /// Reads what workers' admin ports want to be shown; `nil` when that is not set.
    var adminToken: (@Sendable () throws -> String)? {
        admin.tokenSource.map { source -> @Sendable () throws -> String in { try source.current().reveal() } }
    }

    /// What decides by the settings, before anything is known of an event.
    func situation(now: WallTime, configuration: String?) -> Explanation.Situation {
        let statuses = backend.statuses
        var situation = Explanation.Situation(
            now: now, retry: retryPolicy, delays: retry.delays, resultsTopic: topics.results,
            meaning: { statuses[$0]?.rawValue })
        situation.configuration = configuration
        return situation
    }
}

extension CommandFailure {
    /// A tool's failure with the exit status of its kind; what a broker said in it is made safe to show.
    init(_ failure: ToolFailure) {
        let detail = failure.detail.map { ["  the Kafka client says: \(SafeText.escaped($0))"] } ?? []
        let lines = failure.description.split(separator: "\n").map { SafeText.escaped(String($0)) } + detail
        self.init(lines.joined(separator: "\n"), status: failure.kind == .unreachable ? .unreachable : .failed)
    }
}
