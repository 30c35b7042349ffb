internal import HeraldBytes
internal import HeraldDriver
internal import HeraldEvents
internal import HeraldTools

extension OutgoingRecord {
    /// The record that others' dead letter was made of: key, value and its own headers, and how often it was replayed.
    ///
    /// The key chooses the partition, as it does for Java's producers.
    init(_ replay: ReplayRules.Replay, ofForeign entry: DeadLetterEntry) {
        var headers = HeaderList()
        let original = entry.headers
        for index in 0..<original.count
        where entry.isOriginalHeader(at: index)
            && !original.name(at: index).hasSameBytes(as: HeaderName.replays.literal)
        {
            headers.append(name: original.name(at: index), value: original.value(at: index))
        }
        headers.append(name: HeaderName.replays.literal, decimal: Int64(replay.replays))
        self.init(topic: replay.topic, key: entry.key, value: entry.value, headers: headers)
    }
}
