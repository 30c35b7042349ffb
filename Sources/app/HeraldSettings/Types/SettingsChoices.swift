/// How Herald authenticates to the backend.
package enum AuthenticationKind: String, Sendable, CaseIterable {
    /// A user and a password with every request.
    case basic
    /// A fixed token.
    case bearer
    /// A token that a token endpoint gives.
    case oauth2
    /// Not at all.
    case none
}

/// Where the client's id and secret stand in a token request (RFC 6749 §2.3.1).
package enum ClientAuthentication: String, Sendable, CaseIterable {
    /// In an `Authorization: Basic` header.
    case basic
    /// In the form.
    case post
}

/// How results, retries, dead letters and offsets become durable together.
package enum DeliveryGuarantee: String, Sendable, CaseIterable {
    /// Offsets are committed after every record that they cause is acknowledged; a crash may record something twice.
    case atLeastOnce = "at-least-once"
    /// All of it in one Kafka transaction.
    case atomic
}

/// What is sent in order.
package enum DeliveryOrdering: String, Sendable, CaseIterable {
    /// One user's events.
    case key
    /// All events of a partition.
    case partition
    /// Nothing.
    case none
}

/// What an HTTP status means for an event.
package enum StatusClass: String, Sendable, CaseIterable {
    /// The backend took it.
    case delivered
    /// Worth another attempt.
    case transient
    /// The credentials were refused: hold.
    case credentials
    /// Never to be accepted: dead letter.
    case rejected
}

/// How severe a log message is.
package enum LogLevel: String, Sendable, CaseIterable {
    /// Something failed that somebody has to fix.
    case error
    /// Something is not as it should be.
    case warning
    /// What an operator wants to know.
    case info
    /// What helps to find a mistake.
    case debug
}

/// How log lines are written.
package enum LogFormat: String, Sendable, CaseIterable {
    /// One JSON object on each line.
    case json
    /// For people.
    case text
}
