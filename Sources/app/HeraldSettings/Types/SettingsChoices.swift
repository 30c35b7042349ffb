/// What the backend is.
package enum BackendKind: String, Sendable, CaseIterable {
    /// A backend with Herald's own contract.
    case http
    /// An Azure Notification Hub.
    case azureHub = "azure-hub"
}

/// Which HTTP is spoken to the backend.
package enum BackendHTTP: String, Sendable, CaseIterable {
    /// What the backend offers over TLS, HTTP/1.1 without.
    case auto
    /// HTTP/1.1 alone.
    case http1 = "1.1"
    /// HTTP/2 alone.
    case http2 = "2"
}

/// The form in which a hub takes a push service's notifications.
package enum HubFormat: String, Sendable, CaseIterable {
    /// APNs.
    case apple
    /// Google's former interface.
    case gcm
    /// FCM's interface of today.
    case fcmv1
    /// WNS.
    case windows
    /// Web push.
    case browser
}

/// How Herald authenticates to the backend.
package enum AuthenticationKind: String, Sendable, CaseIterable {
    /// A user and a password with every request.
    case basic
    case bearer
    case oauth2
    case none
}

/// How Herald logs in to the brokers.
package enum KafkaAuthenticationKind: String, Sendable, CaseIterable {
    /// As `kafka.properties` says, or not at all.
    case none
    /// SASL/PLAIN.
    case plain
    /// SASL/SCRAM with SHA-256 (RFC 7677).
    case scramSHA256 = "scram-sha-256"
    /// SASL/SCRAM with SHA-512.
    case scramSHA512 = "scram-sha-512"
    /// SASL/OAUTHBEARER (RFC 7628), with tokens of a token endpoint.
    case oauthbearer
    /// Mutual TLS.
    case certificate
}

/// Where the client's id and secret stand in a token request (RFC 6749 §2.3.1).
package enum ClientAuthentication: String, Sendable, CaseIterable {
    /// In an `Authorization: Basic` header.
    case basic
    case post
}

/// How results, retries, dead letters and offsets become durable together.
package enum DeliveryGuarantee: String, Sendable, CaseIterable {
    /// Offsets are committed after every record that they cause is acknowledged; a crash may record something twice.
    case atLeastOnce = "at-least-once"
    case atomic
}

/// What is sent in order.
package enum DeliveryOrdering: String, Sendable, CaseIterable {
    case key
    case partition
    case none
}

/// What an HTTP status means for an event.
package enum StatusClass: String, Sendable, CaseIterable {
    case delivered
    case transient
    /// The credentials were refused: hold.
    case credentials
    /// Never to be accepted: dead letter.
    case rejected
}

/// How severe a log message is.
package enum LogLevel: String, Sendable, CaseIterable {
    case error
    case warning
    case info
    case debug
}

/// How log lines are written.
package enum LogFormat: String, Sendable, CaseIterable {
    case json
    case text
}

/// One wait of `retry.delays`: its length, and the text that names its topic.
package struct RetryDelay: Sendable, Equatable {
    /// As the setting writes it, `5s`: the last part of the retry topic's name.
    package let text: String
    package let duration: Duration
}

/// A topic that requests come from, and its share when several have work.
package struct RequestTopic: Sendable, Equatable {
    /// The weight of a topic that is given by its name alone.
    package static let standardWeight = 1

    package let name: String
    /// How many events are taken from it while another topic with weight 1 gives one.
    package let weight: Int

    /// A request topic; the weight is 1 unless said.
    package init(name: String, weight: Int = Self.standardWeight) {
        self.name = name
        self.weight = weight
    }
}
