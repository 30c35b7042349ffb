import HeraldCommandLine
import HeraldDoctor
import HeraldSettings
import HeraldTools

extension Settings {
    /// What `herald doctor` looks at in the cluster.
    var brokerPlan: BrokerPlan {
        BrokerPlan(
            bootstrapServers: kafka.bootstrapServers, clientProperties: KafkaClientSettings.common(self),
            readerProperties: KafkaClientSettings.doctorReader(self),
            writerProperties: KafkaClientSettings.replayWriter(self),
            reach: ClusterReach(
                bootstrapServers: kafka.bootstrapServers, saslMechanism: saslMechanism,
                patience: BrokerExaminer.loginPatience),
            topics: topicWishes, group: kafka.group, instance: kafka.instance,
            isAtomic: delivery.guarantee == .atomic)
    }

    /// The property `sasl.mechanism`, by either of its names.
    var saslMechanism: String? { kafka.properties["sasl.mechanism"] ?? kafka.properties["sasl.mechanisms"] }

    /// The doctor of these settings.
    func examination(of part: Examination.Part?) throws -> Examination {
        let plan = brokerPlan
        let url = backend.url?.description ?? ""
        var makeBroker: (@Sendable () -> any Examiner)?
        var makeBackend: (@Sendable () -> any Examiner)?
        if part != .backend { makeBroker = { BrokerExaminer(plan) } }
        if part != .kafka {
            let configuration = try backendConfiguration(connectionLimit: 1)
            makeBackend = { BackendExaminer(url: url, configuration) }
        }
        return Examination(broker: makeBroker, backend: makeBackend)
    }
}
