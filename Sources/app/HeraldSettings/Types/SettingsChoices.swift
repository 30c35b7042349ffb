/// The kind of backend.
package enum BackendKind: String, Sendable, CaseIterable {
    /// A backend with Herald's own contract.
    case http
    /// An Azure Notification Hub.
    case azureHub = "azure-hub"
}

/// The HTTP version spoken to the backend.
package enum BackendHTTP: String, Sendable, CaseIterable {
    /// The version that the backend offers over TLS; HTTP/1.1 without TLS.
    case auto
    /// HTTP/1.1 alone.
    case http1 = "1.1"
    /// HTTP/2 alone.
    case http2 = "2"
}

/// The form in which a hub accepts a push service's notifications.
package enum HubFormat: String, Sendable, CaseIterable {
    /// APNs.
    case apple
    /// Google's former interface.
    case gcm
    /// FCM's current interface.
    case fcmv1
    /// WNS.
    case windows
    /// Web push.
    case browser
}

/// Herald's authentication to the backend.
package enum AuthenticationKind: String, Sendable, CaseIterable {
    /// A user and a password with every request.
    case basic
    case bearer
    case oauth2
    case none
}

/// Herald's login to the brokers.
package enum KafkaAuthenticationKind: String, Sendable, CaseIterable {
    /// Left to `kafka.properties`, or none.
    case none
    /// SASL/PLAIN.
    case plain
    /// SASL/SCRAM with SHA-256 (RFC 7677).
    case scramSHA256 = "scram-sha-256"
    /// SASL/SCRAM with SHA-512.
    case scramSHA512 = "scram-sha-512"
    /// SASL/OAUTHBEARER (RFC 7628), with tokens from a token endpoint.
    case oauthbearer
    /// Mutual TLS.
    case certificate
}

/// The place of the client's id and secret in a token request (RFC 6749 §2.3.1).
package enum ClientAuthentication: String, Sendable, CaseIterable {
    /// In an `Authorization: Basic` header.
    case basic
    case post
}

/// The durability guarantee for results, retries, dead letters and offsets.
package enum DeliveryGuarantee: String, Sendable, CaseIterable {
    /// Offsets are committed after all records that they cause are acknowledged; a crash may record something twice.
    case atLeastOnce = "at-least-once"
    case atomic
}

/// The scope of ordered sending.
package enum DeliveryOrdering: String, Sendable, CaseIterable {
    case key
    case partition
    case none
}

/// The meaning of an HTTP status for an event.
package enum StatusClass: String, Sendable, CaseIterable {
    case delivered
    case transient
    /// The credentials were refused: pause.
    case credentials
    /// Never acceptable: dead letter.
    case rejected
}

/// The severity of a log message.
package enum LogLevel: String, Sendable, CaseIterable {
    case error
    case warning
    case info
    case debug
}

/// The format of log lines.
package enum LogFormat: String, Sendable, CaseIterable {
    case json
    case text
}

/// One wait of `retry.delays`: its length, and the text that names its topic.
package struct RetryDelay: Sendable, Equatable {
    /// The setting's notation, `5s`: the last part of the retry topic's name.
    package let text: String
    package let duration: Duration
}

/// A topic of requests, and its share when several have work.
package struct RequestTopic: Sendable, Equatable {
    /// The weight of a topic given by its name alone.
    package static let standardWeight = 1

    package let name: String
    /// The number of events taken from it for each one from a topic of weight 1.
    package let weight: Int

    /// A request topic; the default weight is 1.
    package init(name: String, weight: Int = Self.standardWeight) {
        self.name = name
        self.weight = weight
    }
}
