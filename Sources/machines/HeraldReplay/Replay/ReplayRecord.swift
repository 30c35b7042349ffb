internal import HeraldBytes
internal import HeraldDriver
internal import HeraldEvents
internal import HeraldTools

extension OutgoingRecord {
    /// Leaves the history out, which only tells what was; whether there was one.
    mutating func removeHistory() -> Bool {
        guard headers.lastIndex(named: HeaderName.history.literal) != nil else { return false }
        var rest = HeaderList()
        for index in 0..<headers.count
        where !headers.name(at: index).hasSameBytes(as: HeaderName.history.literal) {
            rest.append(name: headers.name(at: index), value: headers.value(at: index))
        }
        headers = rest
        return true
    }

    /// The record of a request topic that replays a dead letter: its key, its bytes and its original headers, and what a
    /// worker honours of Herald's.
    ///
    /// - Parameter trace: the span of the replay.
    init(_ replay: ReplayRules.Replay, of entry: DeadLetterEntry, freshKey: String?, trace: TraceContext?) {
        var headers = entry.originalHeaders
        func copy(_ name: HeaderName) {
            guard let value = entry.headers.lastValue(named: name.literal) else { return }
            headers.append(name: name.literal, value: value)
        }
        copy(.id)
        if !replay.pushServices.isEmpty {
            headers.append("\(HeaderName.pushServices)", replay.pushServices.joined(separator: ","))
        }
        copy(.origin)
        copy(.originTimestamp)
        copy(.history)
        copy(.source)
        copy(.campaign)
        headers.append(name: HeaderName.replays.literal, decimal: Int64(replay.replays))
        if let freshKey { headers.append("\(HeaderName.key)", freshKey) } else { copy(.key) }
        if trace == nil { copy(.writtenBy) }
        self.init(
            topic: replay.topic, key: replay.corrected.map(\.key) ?? entry.key,
            value: replay.corrected?.value ?? entry.value, headers: headers)
        if let trace { link(to: trace) }
    }
}
