extension SettingsRules {
    /// `kafka.auth.*` beside `kafka.properties`.
    mutating func checkKafkaAuthentication() {
        guard let kind = values.valid(table.kafka.auth.kind), let properties = values.valid(table.kafka.properties)
        else { return }
        guard kind != .none else {
            for setting in SettingsTable.settings(in: table.kafka.auth)
            where setting.standardText == nil && values.isWritten(setting) { refuse(setting, "needs kafka.auth.kind") }
            return
        }
        for (name, _) in properties.sorted where Self.isReplaced(name, by: kind) {
            refuse(table.kafka.properties, "\(name) cannot be set beside kafka.auth.kind, which sets it")
        }
        let isSASL = kind != .certificate
        if let written = properties["security.protocol"]?.lowercased() {
            let allowed = isSASL ? ["sasl_ssl", "sasl_plaintext"] : ["ssl"]
            if !allowed.contains(written) {
                refuse(
                    table.kafka.properties,
                    "security.protocol does not fit kafka.auth.kind, which is \(kind.rawValue); "
                        + "allowed: \(allowed.joined(separator: ", "))")
            }
            // SCRAM does not send the password.
            if written == "sasl_plaintext", kind == .plain || kind == .oauthbearer, let broker = remoteBroker {
                warn(table.kafka.properties, "credentials go to \(broker) unencrypted; use SASL_SSL")
            }
        }
        if kind == .oauthbearer { warnIfExposed(table.kafka.auth.tokenURL) }
    }

    /// Checks the settings and files that the kind requires.
    mutating func requireKafkaAuthentication() {
        guard let kind = values.valid(table.kafka.auth.kind) else { return }
        let auth = table.kafka.auth
        let reason = "kafka.auth.kind is \(kind.rawValue)"
        switch kind {
        case .none: break
        case .plain, .scramSHA256, .scramSHA512:
            requireSet(auth.username, because: reason)
            requireSecret(auth.passwordFile, because: reason)
        case .oauthbearer:
            requireSet(auth.tokenURL, because: reason)
            requireSet(auth.clientID, because: reason)
            requireReadable([auth.caFile])
            requireSecret(auth.clientSecretFile, because: reason)
        case .certificate:
            requireSet(auth.certificateFile, because: reason)
            requireSet(auth.keyFile, because: reason)
            requireReadable([auth.certificateFile, auth.keyFile])
        }
    }

    /// A broker on another machine; nil without one.
    private var remoteBroker: String? {
        values.valid(table.kafka.bootstrapServers)?.first { address in
            let place = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address[...]
            return (try? HTTPAddress("http://\(place)"))?.isLoopback != true
        }
    }

    private static func isReplaced(_ property: String, by kind: KafkaAuthenticationKind) -> Bool {
        if kind == .certificate {
            return ["ssl.certificate.location", "ssl.certificate.pem", "ssl.key.location", "ssl.key.pem"].contains(
                property)
                || property.hasPrefix("ssl.keystore.") || property.hasPrefix("sasl.")
        }
        // The extensions sent with a token (KIP-342) belong to the user.
        return property.hasPrefix("sasl.") && property != "sasl.oauthbearer.extensions"
    }
}
