internal import HeraldBytes
internal import HeraldDriver
internal import HeraldEvents

extension OutgoingRecord {
    /// The record that others' dead letter was made of: key, value and its own headers, and how often it was replayed.
    ///
    /// The key chooses the partition, as it does for Java's producers. One for workers has an origin, by which its results
    /// are known.
    ///
    /// - Parameter trace: the span of the replay.
    init(_ replay: ReplayRules.Replay, ofForeign entry: DeadLetterEntry, trace: TraceContext?) {
        var headers = entry.originalHeaders
        let isForWorkers = !replay.pushServices.isEmpty
        if isForWorkers { headers.append("\(HeaderName.origin)", "\(replay.origin)") }
        headers.append(name: HeaderName.replays.literal, decimal: Int64(replay.replays))
        self.init(topic: replay.topic, key: entry.key, value: entry.value, headers: headers)
        if isForWorkers, let trace { link(to: trace) }
    }
}
