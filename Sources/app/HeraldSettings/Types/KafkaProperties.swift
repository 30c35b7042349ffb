import HeraldText

/// librdkafka properties that are passed through; secrets among them are not shown.
package struct KafkaProperties: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    private let values: [String: String]

    package init(_ values: [String: String] = [:]) { self.values = values }

    package var sorted: [(name: String, value: String)] {
        values.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    package subscript(_ name: String) -> String? { values[name] }

    package var description: String {
        "{" + sorted.map { "\($0.name): \(Self.shown($0.name, $0.value))" }.joined(separator: ", ") + "}"
    }

    package var customMirror: Mirror {
        Mirror(self, children: sorted.map { (label: $0.name, value: Self.shown($0.name, $0.value)) })
    }

    /// The properties that Herald sets itself, and the reason for each.
    static let reserved: [String: String] = [
        "bootstrap.servers": "kafka.bootstrapServers sets it",
        "metadata.broker.list": "kafka.bootstrapServers sets it",
        "group.id": "kafka.group sets it",
        "group.instance.id": "kafka.instance and kafka.staticMembership set it",
        "transactional.id": "kafka.group and kafka.instance set it",
        "enable.auto.commit": "Herald commits what is settled",
        "auto.commit.interval.ms": "delivery.commitInterval sets it",
        "auto.commit.enable": "Herald commits what is settled",
        "enable.auto.offset.store": "Herald commits what is settled",
        "offset.store.method": "Herald commits what is settled",
        "auto.offset.reset": "a new group begins at the earliest record",
        "enable.idempotence": "Herald's producers are always idempotent",
        "enable.gapless.guarantee": "Herald's producers are always idempotent",
        "max.in.flight": "more than one request at a time can lose records when a leader moves",
        "max.in.flight.requests.per.connection": "more than one request at a time can lose records when a leader moves",
        "acks": "every record is acknowledged by all replicas",
        "request.required.acks": "every record is acknowledged by all replicas",
        "partitioner": "Herald partitions as Java's clients do",
        "isolation.level": "Herald reads committed records only",
        "enable.partition.eof": "Herald sets it",
        "delivery.report.only.error": "Herald waits for every acknowledgement",
    ]

    /// Whether a property's value is a secret, by its name.
    static func isSecret(_ name: String) -> Bool {
        ["password", "secret", "token", ".pem", "sasl.oauthbearer.config", "jaas"].contains { name.contains($0) }
            && !["token.endpoint.url", "certificate.pem", "ca.pem"].contains { name.hasSuffix($0) }
    }

    /// The value of a property for display.
    package static func shown(_ name: String, _ value: String) -> String { isSecret(name) ? Secret.mask : value }
}

extension SettingType<KafkaProperties> {
    /// librdkafka's properties except those that Herald sets itself.
    static var kafkaProperties: Self {
        let value = SettingType<String>.scalar(
            SettingTraits(
                placeholder: "VALUE", allowed: "text", isSecret: true,
                schema: ["type": ["string", "number", "boolean"]]),
            show: { .string($0) },
            parse: { $0.contains("\0") ? .refused("holds a NUL") : .value($0) })
        let map = SettingType<[String: String]>.map(
            keys: .name(1...128, others: "._", upperCase: false), key: { $0 }, values: value,
            placeholder: "NAME=VALUE,…", show: { name, value in .string(KafkaProperties.shown(name, value)) })
        var traits = map.traits
        traits.allowed = "names and values of librdkafka, but for what Herald sets itself"
        traits.schema = [
            "type": "object", "additionalProperties": value.traits.schema,
            "propertyNames": [
                "pattern": "^[a-z0-9._]{1,128}$",
                "not": ["enum": .array(KafkaProperties.reserved.keys.sorted().map { .string($0) })],
            ],
        ]
        return SettingType(
            traits: traits,
            decode: { node, report in
                guard let values = map.decode(node, &report), case .map(let entries) = node.content else { return nil }
                for entry in entries {
                    guard let reason = KafkaProperties.reserved[entry.key] else { continue }
                    report.refuse(at: entry.position, report.path, "\(entry.key) cannot be set here: \(reason)")
                }
                // The others are checked in any case.
                return KafkaProperties(values.filter { KafkaProperties.reserved[$0.key] == nil })
            },
            show: { properties in
                .object(properties.sorted.map { .init($0.name, .string(KafkaProperties.shown($0.name, $0.value))) })
            })
    }
}
