import HeraldCommandLine
import HeraldDoctor
import HeraldEvents
import HeraldKafka
import HeraldSettings
import HeraldTime
import HeraldTools

extension Settings {
    func brokerPlan() throws -> BrokerPlan {
        BrokerPlan(
            bootstrapServers: kafka.bootstrapServers, clientProperties: KafkaClientSettings.common(self),
            readerProperties: KafkaClientSettings.doctorReader(self),
            writerProperties: KafkaClientSettings.replayWriter(self),
            reach: ClusterReach(
                bootstrapServers: kafka.bootstrapServers, patience: BrokerExaminer.loginPatience),
            topics: topicWishes, decoder: try recordDecoder(), group: kafka.group,
            feedbackGroup: target.wantsFeedback ? feedbackGroup : nil, instance: kafka.instance,
            isAtomic: delivery.guarantee == .atomic, listen: adminAddress)
    }

    /// Host and port of the admin port; `nil` when it is off.
    var adminAddress: (host: String, port: UInt16)? {
        guard case .address(let host, let port) = admin.listen else { return nil }
        return (host, port)
    }

    /// Whether the admin port is unknown until the worker has it.
    var hasFreeAdminPort: Bool { adminAddress?.port == 0 }

    /// Why what a tool publishes now will wait, as far as that can be found out within seconds.
    ///
    /// - Parameter pushServices: those that it is for; `nil` for any.
    func workerTrouble(for pushServices: [String]? = nil) -> String? {
        guard let admin = try? adminClient() else { return nil }
        return WorkerSurvey.trouble(
            group: kafka.group, named: namedWorkers, listen: adminAddress, admin: admin, pushServices: pushServices)
    }

    var namedWorkers: [String]? { console.workers.isEmpty ? nil : console.workers }

    /// The doctor of these settings.
    ///
    /// - Parameter workers: where their admin ports are, as `host:port`; `nil` for those that the settings name, or where
    ///   members of the group run.
    func examination(of part: Examination.Part?, workers: [String]? = nil) throws -> Examination {
        var plan = try brokerPlan()
        if preferences.enabled {
            plan.words = BrokerPlan.WordsPlan(
                pushServices: try pushServices(), hasSecret: preferences.forgetKeyFile != nil,
                zones: (try? ZoneFolder.read()) ?? TimeZones(), hasDefaultZone: preferences.defaultZone != nil)
        }
        plan.workers = workers ?? namedWorkers
        var makeBroker: (@Sendable () -> any Examiner)?
        var makeBackend: (@Sendable () -> any Examiner)?
        if part != .backend { makeBroker = { [plan] in BrokerExaminer(plan) } }
        if part != .kafka { makeBackend = try target.examiner() }
        return Examination(broker: makeBroker, backend: makeBackend)
    }
}
