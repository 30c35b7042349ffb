internal import HeraldEvents
internal import HeraldKafka
package import HeraldTime
package import HeraldTools

extension Replayer {
    /// The operator's clock gives a mark its moment, a broker's or a worker's the result.
    private static let clockDifference: Milliseconds = .minutes(5)

    /// Reads what came of replays, from the results topic.
    ///
    /// - Parameters:
    ///   - marks: tell since when there are replays.
    ///   - earliest: replays before this moment are not asked for.
    ///   - onProgress: how many of how many results were passed; `false` ends the reading.
    /// - Returns: what is known, and whether all was read.
    package func outcomes(
        of marks: MarkIndex, since earliest: WallTime?, onProgress: (Int64, Int64) -> Bool
    ) throws -> (outcomes: ReplayOutcomes, isWhole: Bool) {
        var outcomes = ReplayOutcomes()
        guard let reader = try replayResults(of: marks, since: earliest) else { return (outcomes, true) }
        defer { reader.close() }
        let isWhole = try reader.catchUp(onProgress: onProgress) { result, _ in outcomes.add(result) }
        return (outcomes, isWhole)
    }

    /// A reader of the results of replays, from the first replay on; `nil` while nothing was replayed.
    ///
    /// - Parameter earliest: replays before this moment are not asked for.
    package func replayResults(of marks: MarkIndex, since earliest: WallTime? = nil) throws -> ResultsReader? {
        guard let first = marks.firstReplayAt, !layout.results.isEmpty else { return nil }
        let moment = max(first, earliest?.milliseconds ?? first) - Self.clockDifference.count
        return try ResultsReader(
            properties: context.readerProperties, topic: context.topics.results, partitions: layout.results,
            mentioning: Self.mentionOfReplay
        ) { _ in .moment(moment) }
    }

    /// What the result of a replay has, and others, which are most of what lies there, have not.
    static var mentionOfReplay: String { #""replays""# }

    /// Tells the rules which campaigns are cancelled or paused.
    ///
    /// - Returns: `false` when this user may not know.
    package func lookUpCampaigns(for rules: inout ReplayRules) throws -> Bool {
        guard let partitions = layout.campaigns else { return false }
        guard !partitions.isEmpty else { return true }
        var states = CampaignStates()
        let reader = try TopicReader(
            properties: context.readerProperties, topic: context.topics.campaigns, partitions: partitions)
        defer { reader.close() }
        try reader.catchUp { message in
            guard let key = message.keyCopy else { return }
            // What is damaged says nothing.
            try? states.record(key: key, value: message.valueCopy)
        }
        func names(_ state: CampaignControl.State) -> Set<String> {
            states.names.filter { states.control(of: $0)?.state == state }
        }
        (rules.cancelledCampaigns, rules.pausedCampaigns) = (names(.cancelled), names(.paused))
        return true
    }
}
