internal import CRDKafka
internal import Glibc

/// The librdkafka that this process runs on.
public enum KafkaLibrary {
    /// Its version, such as `2.0.2`.
    public static var version: String { String(cString: rd_kafka_version_str()) }

    /// Its version as a comparable number, `0xMMmmrrpp`.
    public static var versionNumber: Int32 { rd_kafka_version() }

    /// Whether this version has the property and accepts this value.
    public static func takes(_ property: String, _ value: String) -> Bool {
        ClientConfiguration().set(property, value) == nil
    }

    /// The first version whose SASL/SCRAM works with brokers that check nonces strictly (Kafka 3.8.1 and newer).
    static let firstVersionWithWorkingSCRAM: Int32 = 0x0206_0100

    /// A mistake in one client property.
    public struct PropertyMistake: Sendable, Equatable {
        /// The kind of mistake.
        public enum Problem: Sendable, Equatable {
            /// This version has no such property.
            case unknown
            /// The value is not allowed; allowed values in librdkafka's notation: `a, b` or `1 .. 100`.
            case value(allowed: String)
            /// Any other refusal, such as a feature that this build lacks; may quote the value.
            case refused(String)
        }

        /// The property's name.
        public let property: String
        /// The mistake.
        public let problem: Problem
    }

    /// The kinds of clients whose properties are checked.
    public enum ClientKind: Sendable, CaseIterable {
        /// A member of a group, or a reader.
        case consumer
        /// A writer.
        case producer
    }

    /// The names of all properties, sorted.
    public static var propertyNames: [String] { allowedValues.keys.sorted() }

    /// The mistakes in these client properties, each checked on its own.
    public static func check(properties: [(String, String)]) -> [PropertyMistake] {
        let configuration = ClientConfiguration()
        return properties.compactMap { name, value in
            guard let error = configuration.set(name, value) else { return nil }
            guard let allowed = allowedValues[name] else {
                return PropertyMistake(property: name, problem: .unknown)
            }
            return PropertyMistake(
                property: name, problem: allowed.isEmpty ? .refused(error.message) : .value(allowed: allowed))
        }
    }

    /// librdkafka's reason for refusing to make a client of these properties; `nil` when it makes one.
    ///
    /// Makes a client and releases it, which reads the TLS files and checks the rules between properties. The client
    /// gets no broker's address, and no login that librdkafka would begin by itself, so it connects to nothing. Blocks
    /// for some milliseconds.
    public static func refusal(of kind: ClientKind, properties: ClientProperties) -> String? {
        let addresses = ["bootstrap.servers", "metadata.broker.list"]
        let mechanism = properties.saslMechanism ?? "GSSAPI"
        let beginsByItself = ["GSSAPI", "OAUTHBEARER"].contains(mechanism.uppercased())
        do throws(KafkaError) {
            let configuration = ClientConfiguration()
            for (name, value) in properties.values where !addresses.contains(name) {
                let isLogin = beginsByItself && name == "security.protocol"
                let value = isLogin ? value.lowercased().replacing("sasl_", with: "") : value
                if let error = configuration.set(name, value) { throw error }
            }
            try properties.login?.configure(configuration)
            _ = try ClientHandle(kind == .consumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER, configuration)
            return nil
        } catch {
            return error.message
        }
    }

    /// The allowed values of each property as librdkafka documents them; empty where it documents none.
    private static let allowedValues: [String: String] = {
        var allowed: [String: String] = [:]
        for line in documentation.split(separator: "\n") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(trimmed)
            guard cells.count >= 6, !cells[0].isEmpty, cells[0] != "Property", !cells[0].hasPrefix("-") else {
                continue
            }
            // The client's entry comes first and wins over a topic's entry of the same name.
            if allowed[cells[0]] == nil { allowed[cells[0]] = cells[2] }
        }
        return allowed
    }()

    private static func trimmed(_ text: Substring) -> String {
        text.split(separator: " ").joined(separator: " ")
    }

    private static var documentation: String {
        var text: UnsafeMutablePointer<CChar>?
        var size = 0
        guard let stream = open_memstream(&text, &size) else { return "" }
        rd_kafka_conf_properties_show(stream)
        fclose(stream)
        defer { free(text) }
        return text.map { String(cString: $0) } ?? ""
    }
}
