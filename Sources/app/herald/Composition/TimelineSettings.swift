import HeraldCore
import HeraldEvents
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTimeline

extension Settings {
    /// A search through Herald's topics.
    func timelineSearch() throws -> TimelineSearch {
        TimelineSearch(
            topics: topicNames, delays: retryDelayNames,
            // As whoever goes through millions of results.
            readerProperties: KafkaClientSettings.outcomeReader(self),
            decoder: RecordDecoder(
                pushServices: try pushServices(), maxEventBytes: limits.eventBytes,
                requestTopics: topicNames.requests),
            group: WorkerGroup(
                name: kafka.group, listen: adminAddress, named: namedWorkers,
                token: adminToken))
    }

    /// Reads what workers' admin ports want to be shown; `nil` when that is not set.
    private var adminToken: (@Sendable () throws -> String)? {
        admin.tokenSource.map { source -> @Sendable () throws -> String in { try source.current().reveal() } }
    }

    /// What decides by the settings, before anything is known of an event.
    func situation(now: WallTime) -> Explanation.Situation {
        let (statuses, delays) = (statusTable, retryDelayNames)
        let policy = RetryPolicy(immediate: retry.immediate, delays: delays.map(\.milliseconds))
        return Explanation.Situation(
            now: now, delays: delays, mostCalls: policy.mostCalls, quickRetries: policy.immediate,
            resultsTopic: topics.results, meaning: { statuses[$0].rawValue })
    }

    /// The delays of the retry topics.
    var retryDelayNames: [DelayName] { retry.delays.compactMap { DelayName($0.text) } }
}
