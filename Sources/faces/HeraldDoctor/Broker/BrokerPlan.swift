package import HeraldDriver
package import HeraldEvents
package import HeraldKafka
package import HeraldTime
package import HeraldTools

/// What the brokers' half of an examination is about, from the settings.
package struct BrokerPlan: Sendable {
    package var bootstrapServers: [String]
    package var clientProperties: ClientProperties
    /// A reader that joins no group and sees what is not committed, too.
    package var readerProperties: ClientProperties
    /// A transactional writer, without its `transactional.id`.
    package var writerProperties: ClientProperties
    package var reach: ClusterReach
    package var topics: TopicWishes
    /// What the workers decode with.
    package var decoder: RecordDecoder
    package var group: String
    /// The group and the transactional id of a hub's follower; `nil` without a hub that tells what became of messages.
    package var feedbackGroup: String?
    /// The worker's own name, when the settings give it one.
    package var instance: String?
    package var isAtomic: Bool
    /// Where workers' admin ports are, as `host:port`, when they are set.
    package var workers: [String]?
    /// Host and port of the settings' admin port; `nil` when it is off.
    package var listen: (host: String, port: UInt16)?
    /// What workers know of users' words; `nil` when they do not obey them.
    package var words: WordsPlan?

    /// The settings beside users' words.
    package struct WordsPlan: Sendable {
        package var pushServices: PushServices
        /// Whether what was kept of forgotten users is found.
        package var hasSecret: Bool
        package var zones: TimeZones
        package var hasDefaultZone: Bool

        package init(pushServices: PushServices, hasSecret: Bool, zones: TimeZones, hasDefaultZone: Bool) {
            (self.pushServices, self.hasSecret) = (pushServices, hasSecret)
            (self.zones, self.hasDefaultZone) = (zones, hasDefaultZone)
        }
    }

    package init(
        bootstrapServers: [String], clientProperties: ClientProperties, readerProperties: ClientProperties,
        writerProperties: ClientProperties, reach: ClusterReach, topics: TopicWishes,
        decoder: RecordDecoder, group: String, feedbackGroup: String? = nil, instance: String?, isAtomic: Bool,
        workers: [String]? = nil,
        listen: (host: String, port: UInt16)? = nil
    ) {
        self.bootstrapServers = bootstrapServers
        self.clientProperties = clientProperties
        self.readerProperties = readerProperties
        self.writerProperties = writerProperties
        self.reach = reach
        self.topics = topics
        self.decoder = decoder
        self.group = group
        self.feedbackGroup = feedbackGroup
        self.instance = instance
        self.isAtomic = isAtomic
        self.workers = workers
        self.listen = listen
    }

    func property(_ name: String) -> String? { clientProperties[name] }

    var committedReaderProperties: ClientProperties {
        readerProperties + [("isolation.level", "read_committed")]
    }

    /// `plaintext`, `ssl`, `sasl_plaintext` or `sasl_ssl`.
    var securityProtocol: String { property("security.protocol")?.lowercased() ?? "plaintext" }

    var usesTLS: Bool { securityProtocol.hasSuffix("ssl") }

    var saslMechanism: String? {
        securityProtocol.hasPrefix("sasl") ? clientProperties.saslMechanism ?? "GSSAPI" : nil
    }

    /// Whom the clients trust, and what they show.
    var trust: TLSHandshake.Trust {
        TLSHandshake.Trust(
            authorities: property("ssl.ca.location"), authoritiesText: property("ssl.ca.pem"),
            certificateFile: property("ssl.certificate.location"), keyFile: property("ssl.key.location"),
            checksName: property("ssl.endpoint.identification.algorithm")?.lowercased() != "none")
    }

    /// Whether the clients look at certificates at all.
    var verifies: Bool { property("enable.ssl.certificate.verification")?.lowercased() != "false" }
}
