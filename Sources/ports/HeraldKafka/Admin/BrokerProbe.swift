public import HeraldTime

/// Asks single brokers whether they answer, whatever other clients believe of their connections.
///
/// A cluster without a quorum of controllers goes on naming brokers that are dead; a client learns of them only when it needs
/// one. So each broker is asked by a client of its own that knows no other one: with its login, for it might take a
/// connection and say no more.
public enum BrokerProbe {
    /// One that was reached late in the round has at least this long.
    private static let least = Milliseconds.milliseconds(300)

    /// Those that did not answer in time, in their order.
    ///
    /// Blocks for a little more than `timeout` when some do not answer.
    ///
    /// - Parameter properties: librdkafka's, of any client of this cluster.
    public static func silent(
        among brokers: [ClusterMetadata.Broker], properties: ClientProperties, timeout: Milliseconds
    ) -> [ClusterMetadata.Broker] {
        let own = properties.without(["bootstrap.servers", "statistics.interval.ms"]).unnoted
        let end = ContinuousClock.now + timeout.duration
        // Most that are silent are dead, which is seen without a client.
        let refusing = BrokerConnection.refusing(among: brokers, within: timeout / 2)
        // The others connect together as soon as their clients are made.
        let asked = brokers.map { broker in
            (
                broker,
                refusing.contains(broker) ? nil : try? Admin(properties: own + [("bootstrap.servers", broker.address)])
            )
        }
        return asked.compactMap { broker, admin in
            if refusing.contains(broker) { return broker }
            let left = max(least, Milliseconds(end - .now))
            // What could not be asked is not known to be silent.
            guard let admin else { return nil }
            do throws(KafkaError) {
                _ = try admin.metadata(topics: [], timeout: left)
                return nil
            } catch {
                return error.kind == .unreachable ? broker : nil
            }
        }
    }
}
