internal import CRDKafka
internal import HeraldThreads

/// Owns a `rd_kafka_conf_t` until a client takes it over.
final class ClientConfiguration {
    private var owned: OpaquePointer?
    /// The properties that were set, which defaults must not override.
    private(set) var names: Set<String> = []
    private(set) var properties: ClientProperties = []

    init() {
        owned = rd_kafka_conf_new()
    }

    deinit {
        if let owned { rd_kafka_conf_destroy(owned) }
    }

    var pointer: OpaquePointer? { owned }

    func set(_ name: String, _ value: String) -> KafkaError? {
        var text = [CChar](repeating: 0, count: ClientHandle.errorTextCapacity)
        // OK, UNKNOWN (no such property in this version), INVALID (a wrong value, or one that this build lacks).
        let result = rd_kafka_conf_set(owned, name, value, &text, text.count)
        guard result != RD_KAFKA_CONF_OK else {
            names.insert(name)
            return nil
        }
        return KafkaError(
            code: KafkaError.Code.invalidArgument, message: "property \(name): \(ClientHandle.string(text))")
    }

    /// Sets the caller's properties, then the defaults for properties that the caller did not set.
    func set(properties: ClientProperties, defaults: [(String, String)]) throws(KafkaError) {
        for (name, value) in properties.values {
            if let error = set(name, value) { throw error }
        }
        try properties.login?.configure(self)
        self.properties = properties
        for (name, value) in defaults where !names.contains(name) {
            if let error = set(name, value) { throw error }
        }
    }

    /// The addresses of configurations that must not be destroyed; a leak checker finds them here.
    private static let kept = Guarded<[UInt]>([])

    /// Never destroys the configuration: when its client could not be made, destroying it would free memory that
    /// librdkafka has freed already.
    func keepForever() {
        guard let owned else { return }
        let address = UInt(bitPattern: owned)
        Self.kept.withLock { $0.append(address) }
        relinquish()
    }

    /// Gives up ownership: a client has taken the pointer over.
    func relinquish() {
        owned = nil
    }
}
