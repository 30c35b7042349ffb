internal import HeraldEvents

extension ReplayRules {
    /// What happens to a dead letter of others: it goes to the request topic that it came from, or to the topic that
    /// was named, as it was there.
    func decision(for entry: DeadLetterEntry, of foreign: ForeignTopic, _ marks: MarkIndex) -> Decision {
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
        let before = entry.replays + marks.replayCount(partition: partition, offset: offset)
        guard before < maximumReplays else { return .leaveOut(.overTheCap) }
        return .replay(
            Replay(
                topic: topic,
                origin: entry.origin ?? Origin(topic: foreign.name, partition: partition, offset: offset),
                pushServices: [], isWhole: true, replays: before + 1))
    }
}
