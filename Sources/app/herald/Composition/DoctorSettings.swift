import HeraldCommandLine
import HeraldDoctor
import HeraldKafka
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
                bootstrapServers: kafka.bootstrapServers, patience: BrokerExaminer.loginPatience),
            topics: topicWishes, group: kafka.group, instance: kafka.instance,
            isAtomic: delivery.guarantee == .atomic, listen: adminAddress)
    }

    /// Host and port of the admin port; `nil` when it is off.
    var adminAddress: (host: String, port: UInt16)? {
        guard case .address(let host, let port) = admin.listen else { return nil }
        return (host, port)
    }

    /// Why what a tool publishes now will wait, as far as that can be found out within seconds.
    func workerTrouble() -> String? {
        guard let admin = try? adminClient() else { return nil }
        return WorkerSurvey.trouble(group: kafka.group, listen: adminAddress, admin: admin)
    }

    /// The doctor of these settings.
    ///
    /// - Parameter workers: where their admin ports are, as `host:port`; `nil` when nobody said so.
    func examination(of part: Examination.Part?, workers: [String]? = nil) throws -> Examination {
        var plan = brokerPlan
        plan.workers = workers
        let url = backend.url?.description ?? ""
        var makeBroker: (@Sendable () -> any Examiner)?
        var makeBackend: (@Sendable () -> any Examiner)?
        if part != .backend { makeBroker = { [plan] in BrokerExaminer(plan) } }
        if part != .kafka {
            let configuration = try backendConfiguration(connectionLimit: 1)
            makeBackend = { BackendExaminer(url: url, configuration) }
        }
        return Examination(broker: makeBroker, backend: makeBackend)
    }
}
