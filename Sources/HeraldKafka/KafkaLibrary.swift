internal import CRDKafka

/// The librdkafka that this process runs on.
public enum KafkaLibrary {
    /// Its version, such as `2.0.2`.
    public static var version: String { String(cString: rd_kafka_version_str()) }

    /// Its version as a number, `0xMMmmrrpp`, to compare.
    public static var versionNumber: Int32 { rd_kafka_version() }

    /// From this version on SASL/SCRAM works with brokers that check nonces strictly (Kafka 3.8.1 and newer).
    static let firstVersionWithWorkingSCRAM: Int32 = 0x0206_0100

    /// What is wrong with these client properties, each on its own; empty when nothing is.
    ///
    /// Rules between properties are checked only when a ``Consumer`` or ``Producer`` is made.
    public static func check(properties: [(String, String)]) -> [(property: String, message: String)] {
        let configuration = ClientConfiguration()
        return properties.compactMap { name, value in
            configuration.set(name, value).map { (name, $0.message) }
        }
    }
}
