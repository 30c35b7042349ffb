internal import CRDKafka
internal import Glibc

/// The librdkafka that this process runs on.
public enum KafkaLibrary {
    /// Its version, such as `2.0.2`.
    public static var version: String { String(cString: rd_kafka_version_str()) }

    /// Its version as a number, `0xMMmmrrpp`, to compare.
    public static var versionNumber: Int32 { rd_kafka_version() }

    /// Whether this version has the property, and it may have this value.
    public static func takes(_ property: String, _ value: String) -> Bool {
        ClientConfiguration().set(property, value) == nil
    }

    /// From this version on SASL/SCRAM works with brokers that check nonces strictly (Kafka 3.8.1 and newer).
    static let firstVersionWithWorkingSCRAM: Int32 = 0x0206_0100

    /// What is wrong with one client property.
    public struct PropertyMistake: Sendable, Equatable {
        /// What kind of mistake it is.
        public enum Problem: Sendable, Equatable {
            /// This version has no such property.
            case unknown
            /// The value is none of what is allowed, in librdkafka's own notation: `a, b` or `1 .. 100`.
            case value(allowed: String)
            /// Anything else, such as what this build cannot do; may quote the value.
            case refused(String)
        }

        /// The property's name.
        public let property: String
        /// What is wrong.
        public let problem: Problem
    }

    /// The kinds of clients that properties are checked for.
    public enum ClientKind: Sendable, CaseIterable {
        /// A member of a group, or a reader.
        case consumer
        /// A writer.
        case producer
    }

    /// The names of all properties, sorted.
    public static var propertyNames: [String] { allowedValues.keys.sorted() }

    /// What is wrong with these client properties, each on its own; empty when nothing is.
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

    /// Why no client can be made of these properties, in librdkafka's words; `nil` when one can.
    ///
    /// Makes a client and releases it: that reads the files of TLS, and checks the rules between properties. The client
    /// gets no broker's address, nor a login that librdkafka begins by itself, so it connects to nothing. Blocks for
    /// some milliseconds.
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

    /// What each property may be, as librdkafka documents it; empty where it says nothing.
    private static let allowedValues: [String: String] = {
        var allowed: [String: String] = [:]
        for line in documentation.split(separator: "\n") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(trimmed)
            guard cells.count >= 6, !cells[0].isEmpty, cells[0] != "Property", !cells[0].hasPrefix("-") else {
                continue
            }
            // What the client and its topics both have is the client's first.
            if allowed[cells[0]] == nil { allowed[cells[0]] = cells[2] }
        }
        return allowed
    }()

    private static func trimmed(_ text: Substring) -> String {
        text.split(separator: " ").joined(separator: " ")
    }

    /// librdkafka's table of all properties.
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
