internal import CRDKafka

/// An error of the Kafka client or of a broker, with the possible reactions to it.
public struct KafkaError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The raw `rd_kafka_resp_err_t`, such as one of ``Code``: negative for the client's own, positive for a broker's.
    public var code: Int32
    /// The code's name without its prefix, such as `_FENCED` or `UNKNOWN_MEMBER_ID`.
    public var name: String
    /// One sentence for people, without credentials or record contents.
    public var message: String
    /// Whether the error is fatal: recreate the client.
    public var isFatal: Bool
    /// Whether the same call may be repeated unchanged.
    public var isRetriable: Bool
    /// Whether the current transaction has to be aborted (and may then be written again).
    public var isAbortable: Bool

    /// The error with this raw code; name and, unless given, message come from librdkafka.
    public init(
        code: Int32, message: String? = nil, isFatal: Bool = false, isRetriable: Bool = false,
        isAbortable: Bool = false
    ) {
        let raw = rd_kafka_resp_err_t(rawValue: code)
        self.code = code
        self.name = String(cString: rd_kafka_err2name(raw))
        self.message = message ?? String(cString: rd_kafka_err2str(raw))
        self.isFatal = isFatal || code == Code.fatal
        self.isRetriable = isRetriable
        self.isAbortable = isAbortable
    }

    /// The name and the message.
    public var description: String { "\(name): \(message)" }

    /// This error, with a remark in its message when an old librdkafka, not a wrong password, is the likely cause.
    ///
    /// librdkafka before 2.6.1 breaks SASL/SCRAM against Kafka 3.8.1 and newer, which the broker reports as "invalid
    /// credentials".
    ///
    /// - Parameter saslMechanism: the property `sasl.mechanism` (or `sasl.mechanisms`), `nil` when it is not set.
    public func explained(saslMechanism: String?) -> KafkaError {
        guard code == Code.authentication || code == Code.saslAuthenticationFailed,
            let saslMechanism, saslMechanism.uppercased().hasPrefix("SCRAM"),
            KafkaLibrary.versionNumber < KafkaLibrary.firstVersionWithWorkingSCRAM
        else { return self }
        var copy = self
        copy.message += """
             (This may not be the password: librdkafka \(KafkaLibrary.version) cannot do SASL/SCRAM against \
            Kafka 3.8.1 or newer; use librdkafka 2.6.1 or newer, or SASL/PLAIN, OAUTHBEARER or mutual TLS.)
            """
        return copy
    }
}

extension KafkaError {
    /// The error for a code; `nil` for "no error".
    init?(_ raw: rd_kafka_resp_err_t, message: String? = nil) {
        guard raw != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        self.init(code: raw.rawValue, message: message)
    }

    /// Takes over and frees an error object; `nil` for none.
    init?(consuming error: OpaquePointer?) {
        guard let error else { return nil }
        defer { rd_kafka_error_destroy(error) }
        self.init(error)
    }

    /// Reads an error object without taking it over.
    init(_ error: OpaquePointer) {
        self.init(
            code: rd_kafka_error_code(error).rawValue,
            message: String(cString: rd_kafka_error_string(error)),
            isFatal: rd_kafka_error_is_fatal(error) != 0,
            isRetriable: rd_kafka_error_is_retriable(error) != 0,
            isAbortable: rd_kafka_error_txn_requires_abort(error) != 0)
    }

    static func check(_ raw: rd_kafka_resp_err_t) throws(KafkaError) {
        if let error = KafkaError(raw) { throw error }
    }

    /// Takes over and frees an error object, and throws it.
    static func check(consuming error: OpaquePointer?) throws(KafkaError) {
        if let error = KafkaError(consuming: error) { throw error }
    }
}
