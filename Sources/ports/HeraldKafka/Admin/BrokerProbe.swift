public import HeraldTime

/// Asks single brokers whether they answer, whatever other clients believe about their connections.
///
/// A cluster without a quorum of controllers goes on naming dead brokers, and a client notices only when it needs one
/// of them. So each broker is asked by a client that knows no other broker. The client logs in, because a hung broker
/// may accept a connection and then stay silent.
public enum BrokerProbe {
    /// The minimum time that a broker gets when its turn comes late.
    private static let least = Milliseconds.milliseconds(300)

    /// The brokers that did not answer in time, in the given order.
    ///
    /// Blocks for a little more than `timeout` when some do not answer.
    ///
    /// - Parameter properties: librdkafka's, of any client of this cluster.
    public static func silent(
        among brokers: [ClusterMetadata.Broker], properties: ClientProperties, timeout: Milliseconds
    ) -> [ClusterMetadata.Broker] {
        let own = properties.without(["bootstrap.servers", "statistics.interval.ms"]).unnoted
        let end = ContinuousClock.now + timeout.duration
        // Most silent brokers are dead, which needs no client to find out.
        let refusing = BrokerConnection.refusing(among: brokers, within: timeout / 2)
        // The remaining brokers are connected to concurrently, once their clients exist.
        let asked = brokers.map { broker in
            (
                broker,
                refusing.contains(broker) ? nil : try? Admin(properties: own + [("bootstrap.servers", broker.address)])
            )
        }
        return asked.compactMap { broker, admin in
            if refusing.contains(broker) { return broker }
            let left = max(least, Milliseconds(end - .now))
            // A broker that could not be asked does not count as silent.
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
