package import HeraldEvents
internal import HeraldTools

/// A dead-letter topic that others write: Spring Kafka's `DeadLetterPublishingRecoverer`, Kafka Connect, or any other
/// program.
package struct ForeignTopic: Sendable, Equatable {
    package let name: String
    /// Where its dead letters go; `nil` for the request topic that each came from.
    package let destination: String?
    private let own: Topics

    /// - Parameter own: Herald's topics, of which only requests take a replay.
    package init(name: String, destination: String? = nil, own: Topics) {
        self.name = name
        self.destination = destination
        self.own = own
    }

    /// Whether this is no topic to work on: only Herald writes it, or reads it as requests.
    package static func isOwn(_ name: String, of own: Topics) -> Bool {
        own.requests.contains(name) || isInternal(name, own)
    }

    /// Whether a replay to this topic would come straight back, or meddle with what only Herald writes.
    package func isForbiddenDestination(_ topic: String) -> Bool { topic == name || Self.isInternal(topic, own) }

    /// Whether a dead letter goes back to this topic without being told to: its header could name any that this process
    /// may write to, so only request topics count.
    package func isRequestTopic(_ topic: String) -> Bool { own.requests.contains(topic) }

    /// Whether Herald's workers read all that is replayed from it.
    var isReadByWorkers: Bool { destination.map(isRequestTopic) ?? true }

    /// Why dead letters that came from these topics, none of them a request topic, are not replayed, and what to do.
    func refusal(of topics: [String], count: Int) -> ToolFailure {
        ToolFailure(
            "\(count) of the dead letters in \(name) came from topics that are not in topics.requests, such as "
                + "\(topics.joined(separator: ", ")): give --to TOPIC to say where they go, or leave them out (--where 'topic in "
                + "(\(own.requests.joined(separator: ", ")))'); nothing was replayed")
    }

    private static func isInternal(_ topic: String, _ own: Topics) -> Bool {
        [
            own.results, own.feedback, own.deadLetter, own.campaigns, own.audiences, own.state, own.audit,
            own.preferences, own.recalls, own.caps,
        ].contains(topic)
            || own.delay(ofTopic: topic) != nil
    }
}
