import HeraldCore
import HeraldEvents
import HeraldKernel
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTimeline

extension Settings {
    /// A search through Herald's topics.
    func timelineSearch() throws -> TimelineSearch {
        TimelineSearch(
            topics: topicNames, delays: retry.delays,
            // As for every reader of millions of results.
            readerProperties: KafkaClientSettings.outcomeReader(self),
            decoder: try recordDecoder(),
            group: WorkerGroup(
                name: kafka.group, listen: adminAddress, named: namedWorkers,
                token: adminToken))
    }

    /// Reads what workers' admin ports want to be shown; `nil` when that is not set.
    private var adminToken: (@Sendable () throws -> String)? {
        admin.tokenSource.map { source -> @Sendable () throws -> String in { try source.current().reveal() } }
    }

    /// What decides by the settings, before anything is known of an event.
    ///
    /// - Parameter configuration: the settings file, for the commands to type.
    func situation(now: WallTime, configuration: String?) -> Explanation.Situation {
        let statuses = backend.statuses
        var situation = Explanation.Situation(
            now: now, retry: retryPolicy, delays: retry.delays, resultsTopic: topics.results,
            meaning: { statuses[$0]?.rawValue })
        situation.configuration = configuration
        return situation
    }
}
