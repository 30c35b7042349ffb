package import HeraldEvents
package import HeraldTime

/// What groups are made of: a dead letter as it lies in its topic, or what an index remembers of it.
package protocol GroupedLetter {
    var reasonText: String? { get }
    /// The reason, when it is one of Herald's.
    var reason: DeadLetterReason? { get }
    var statusNumber: Int64? { get }
    var pushServices: [String] { get }
    var detail: String? { get }
    /// The topic that it came from.
    var topic: String? { get }
    var campaign: String? { get }
    var source: String? { get }
    var deadLetteredAt: WallTime { get }
    /// `PARTITION:OFFSET`.
    var place: String { get }
    /// The field that is too long, which no setting allows.
    var longField: String? { get }
    /// The delay topics that had no room for its retry.
    var narrowTopics: String? { get }
    /// Whether a person may have got it all the same: a call of it got no answer.
    var mayHaveArrived: Bool { get }
}

extension GroupedLetter {
    /// How many notifications it is: one for each push service, and one of what is no event.
    package var notificationCount: Int { max(1, pushServices.count) }
}

extension DeadLetterEntry: GroupedLetter {
    package var reasonText: String? { text(.reason) }
    package var reason: DeadLetterReason? { reasonText.flatMap(DeadLetterReason.init(rawValue:)) }
    package var statusNumber: Int64? { number(.status) }
    package var detail: String? { text(.detail) }
    package var topic: String? { text(.topic) }
    package var campaign: String? { text(.campaign) }
    package var source: String? { text(.source) }

    package var longField: String? { CorrectableField.tooLong(reason, detail) }

    package var narrowTopics: String? { reason == .oversized ? detail.flatMap(UnfitRetry.topics) : nil }

    package var mayHaveArrived: Bool {
        guard !isForeign, let history = headers.lastValue(named: HeaderName.history.literal),
            AttemptHistory.mayDoubt(history)
        else { return false }
        let services = pushServices
        return AttemptHistory.decode(history).contains {
            $0.mayHaveArrived && services.contains($0.pushService)
        }
    }

    /// Its place in the order of lists.
    package var order: LetterOrder { LetterOrder(moment: deadLetteredAt, partition: partition, offset: offset) }
}
