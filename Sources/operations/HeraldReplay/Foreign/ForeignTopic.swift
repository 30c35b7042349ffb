package import HeraldEvents

/// A dead-letter topic that others write: Spring Kafka's `DeadLetterPublishingRecoverer`, Kafka Connect, or anybody.
package struct ForeignTopic: Sendable, Equatable {
    package let name: String
    /// Where its dead letters go; `nil` for the topic that each came from.
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

    private static func isInternal(_ topic: String, _ own: Topics) -> Bool {
        [own.results, own.feedback, own.deadLetter, own.campaigns, own.state, own.audit].contains(topic)
            || own.delay(ofTopic: topic) != nil
    }
}
