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
    case certificate
}

/// The durability guarantee for results, retries, dead letters and offsets.
package enum DeliveryGuarantee: String, Sendable, CaseIterable {
    /// Offsets are committed after all records that they cause are acknowledged; a crash may record something twice.
    case atLeastOnce = "at-least-once"
    case atomic
}

package enum LogFormat: String, Sendable, CaseIterable {
    case json
    case text
}

/// A topic of requests, and its share when several have work.
package struct RequestTopic: Sendable, Equatable {
    /// The weight of a topic given by its name alone.
    package static let standardWeight = 1

    package let name: String
    /// The number of events taken from it for each one from a topic of weight 1.
    package let weight: Int

    package init(name: String, weight: Int = Self.standardWeight) {
        self.name = name
        self.weight = weight
    }
}
