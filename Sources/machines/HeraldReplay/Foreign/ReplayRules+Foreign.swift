internal import HeraldBytes
internal import HeraldDriver
internal import HeraldEvents
internal import HeraldTime

extension ReplayRules {
    /// What happens to a dead letter of others.
    ///
    /// It goes to the request topic that it came from, or to the topic that was named, as it was there. What workers read
    /// there has to be an event.
    func decision(
        for entry: DeadLetterEntry, of foreign: ForeignTopic, _ marks: MarkIndex, now: WallTime
    ) -> Decision {
        let (partition, offset) = (entry.partition, entry.offset)
        if !isAgain {
            if marks.isResolved(partition: partition, offset: offset) { return .leaveOut(.resolved) }
            if marks.isReplayed([], partition: partition, offset: offset) { return .leaveOut(.replayed) }
        }
        // A header could name anything.
        guard let topic = foreign.destination ?? entry.text(.topic), Topics.isName(topic) else {
            return .leaveOut(.unknownOrigin)
        }
        guard !foreign.isForbiddenDestination(topic) else { return .leaveOut(.forbiddenTopic) }
        guard foreign.destination != nil || foreign.isRequestTopic(topic) else { return .leaveOut(.otherTopic) }
        var pushServices: [String] = []
        var id: String?
        if foreign.isRequestTopic(topic) {
            guard let value = entry.value, let event = try? JudgedEvent(value, of: entry, decoder) else {
                return .leaveOut(.stillInvalid)
            }
            if let omission = omission(ofCampaign: event.campaign) { return .leaveOut(omission) }
            if let expiry = event.expiresAt, expiry <= now { return .leaveOut(.expired) }
            pushServices = event.pushServices
            id = event.id
        }
        let before = entry.replays + marks.replayCount(partition: partition, offset: offset)
        guard before < maximumReplays else { return .leaveOut(.overTheCap) }
        // By its own place, which no other dead letter has: two may have come from one record.
        return .replay(
            Replay(
                topic: topic, origin: Origin(topic: foreign.name, partition: partition, offset: offset),
                pushServices: pushServices, isWhole: true, foreignID: id, isReported: foreign.isRequestTopic(topic),
                replays: before + 1))
    }
}

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
