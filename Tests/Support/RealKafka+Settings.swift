/// The brokers' settings.
extension RealKafka {
    private static let minute = "60000"

    /// - Parameter advertised: The address for clients that come through the proxy.
    static func put(
        _ proxy: KafkaProxy, advertising advertised: KafkaProxy, before port: Int, _ settings: inout [String: String]
    ) {
        for proxy in [proxy, advertised] { proxy.setTarget(port: port) }
        let listeners = settings["listeners"] ?? ""
        let plain = listeners.split(separator: ",").first ?? ""
        settings["listeners"] = "\(listeners),PROXIED://127.0.0.1:\(port)"
        settings["advertised.listeners"] = "\(plain),\(advertisement(advertised))"
        settings["listener.security.protocol.map", default: ""] += ",PROXIED:PLAINTEXT"
    }

    static func advertisement(_ proxy: KafkaProxy) -> String { "PROXIED://\(proxy.bootstrapServers)" }

    static func brokerSettings(
        node: Int, of count: Int, voters: String, port: Int, controllerPort: Int
    ) -> [String: String] {
        let replicas = String(min(count, 3))
        let inSync = count >= 3 ? "2" : "1"
        return [
            "process.roles": "broker,controller", "node.id": String(node + 1), "controller.quorum.voters": voters,
            "listeners": "PLAINTEXT://127.0.0.1:\(port),CONTROLLER://127.0.0.1:\(controllerPort)",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "inter.broker.listener.name": "PLAINTEXT", "controller.listener.names": "CONTROLLER",
            "num.network.threads": "2", "num.io.threads": "4", "auto.create.topics.enable": "false",
            // A node that stands still for a while does not count as dead.
            "broker.session.timeout.ms": minute,
            "group.initial.rebalance.delay.ms": "0",
            "default.replication.factor": replicas, "min.insync.replicas": inSync,
            "offsets.topic.replication.factor": replicas, "offsets.topic.num.partitions": "4",
            "transaction.state.log.replication.factor": replicas, "transaction.state.log.min.isr": inSync,
            "transaction.state.log.num.partitions": "4",
            // The cleaner takes 128 MB by default.
            "log.cleaner.dedupe.buffer.size": "2097152",
            // A dead producer's transaction ends this soon after its time-out.
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
        ]
    }

    static func makeBrokerOnly(_ settings: inout [String: String]) {
        settings["process.roles"] = "broker"
        settings["node.id"] = "101"
        settings["listeners"] = settings["listeners"]?.split(separator: ",").filter { !$0.hasPrefix("CONTROLLER") }
            .joined(separator: ",")
    }

    static func controllerSettings(voters: String, port: Int) -> [String: String] {
        [
            "process.roles": "controller", "node.id": "1", "controller.quorum.voters": voters,
            "listeners": "CONTROLLER://127.0.0.1:\(port)", "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "broker.session.timeout.ms": minute,
        ]
    }
}
