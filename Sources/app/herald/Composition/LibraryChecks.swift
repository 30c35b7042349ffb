import Glibc
import HeraldHTTP
import HeraldKafka
import HeraldSettings
import HeraldText

/// Asks librdkafka and TLS about the settings before anything is connected: what they refuse would end a worker, or keep it
/// waiting for ever.
enum LibraryChecks {
    private static let properties = "kafka.properties"

    /// What they refuse.
    ///
    /// - Parameter needs: files are looked at only for what the command needs.
    static func mistakes(_ settings: Settings, requiring needs: SettingsNeeds) -> [LibraryMistake] {
        var mistakes = propertyMistakes(settings.kafka.properties)
        if needs.contains(.kafka) {
            mistakes += fileMistakes(settings.kafka.properties)
            var known = Set(mistakes.compactMap(\.key))
            let login = loginMistakes(settings.kafka)
            // They have been said in the words of the settings.
            if !login.isEmpty || !hasReadableLogin(settings.kafka) { known.formUnion(certificateProperties) }
            mistakes += login
            mistakes += clientMistakes(settings, besides: known)
        }
        if needs.contains(.backend) { mistakes += backendMistakes(settings) }
        return mistakes
    }

    /// Properties that librdkafka does not have, or not with this value.
    private static func propertyMistakes(_ properties: KafkaProperties) -> [LibraryMistake] {
        KafkaLibrary.check(properties: properties.sorted.map { ($0.name, $0.value) }).map { found in
            let (name, value) = (found.property, properties[found.property] ?? "")
            let shown = KafkaProperties.shown(name, value)
            let message =
                switch found.problem {
                case .unknown:
                    "\(SafeText.quoted(name)) is no property of librdkafka"
                        + (Suggestion.nearest(to: name, in: KafkaLibrary.propertyNames).map { "; did you mean \($0)?" }
                            ?? "")
                case .value(let allowed): "\(name): \(SafeText.quoted(shown)) is not allowed; allowed: \(allowed)"
                case .refused(let reason):
                    shown == value ? SafeText.escaped(reason) : "\(name): librdkafka refuses the value"
                }
            return LibraryMistake(path: Self.properties, key: name, message: message)
        }
    }

    /// Files that librdkafka would read, of which each gets its own sentence; it stops at the first itself.
    private static func fileMistakes(_ properties: KafkaProperties) -> [LibraryMistake] {
        var mistakes: [LibraryMistake] = []
        var readable: Set<String> = []
        for name in [
            "ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "ssl.keystore.location",
            "ssl.crl.location",
        ] {
            // librdkafka looks for the system's authorities itself.
            guard let path = properties[name], name != "ssl.ca.location" || path != "probe" else { continue }
            if access(path, R_OK) == 0 {
                readable.insert(name)
            } else {
                let reason = String(cString: strerror(errno))
                let message = "\(name): \(SafeText.quoted(path, limit: 200)) cannot be read: \(reason)"
                mistakes.append(LibraryMistake(path: Self.properties, key: name, message: message))
            }
        }
        func file(_ name: String) -> String? { readable.contains(name) ? properties[name] : nil }
        let hasPassword = properties["ssl.key.password"] != nil
        let certificate = file("ssl.certificate.location")
        let names: [TLSFiles.Part: String] = [
            .authorities: "ssl.ca.location", .certificate: "ssl.certificate.location", .key: "ssl.key.location",
        ]
        let files = TLSFiles(
            caFile: file("ssl.ca.location").flatMap { isDirectory($0) ? nil : $0 }, certificateFile: certificate,
            keyFile: hasPassword ? nil : file("ssl.key.location"))
        for found in files.mistakes() {
            guard let name = names[found.part], let path = properties[name] else { continue }
            let message = "\(name): \(SafeText.quoted(path, limit: 200)) \(found.message)"
            mistakes.append(LibraryMistake(path: Self.properties, key: name, message: message))
        }
        return mistakes
    }

    private static let certificateProperties: Set = ["ssl.certificate.location", "ssl.key.location"]

    /// Files for the login to the brokers; that they can be read is a rule of the settings.
    private static func loginMistakes(_ kafka: SettingsSection<SettingsTable.Kafka>) -> [LibraryMistake] {
        switch kafka.authentication {
        case nil, .some(.none), .password: return []
        case .token(let client):
            return mistakes(
                of: TLSFiles(caFile: readable(client.caFile)), [.authorities: ("kafka.auth.caFile", client.caFile)])
        case .certificate(let file, let keyFile):
            let hasPassword = kafka.properties["ssl.key.password"] != nil
            return mistakes(
                of: TLSFiles(certificateFile: readable(file), keyFile: hasPassword ? nil : readable(keyFile)),
                [.certificate: ("kafka.auth.certificateFile", file), .key: ("kafka.auth.keyFile", keyFile)])
        }
    }

    /// What is wrong with files, each said of the setting that names it.
    private static func mistakes(
        of files: TLSFiles, _ settings: [TLSFiles.Part: (path: String, file: String?)]
    ) -> [LibraryMistake] {
        files.mistakes().compactMap { found in
            settings[found.part].map { path, file in
                LibraryMistake(path: path, message: "\(SafeText.quoted(file ?? "", limit: 200)) \(found.message)")
            }
        }
    }

    private static func hasReadableLogin(_ kafka: SettingsSection<SettingsTable.Kafka>) -> Bool {
        guard case .certificate(let file, let keyFile) = kafka.authentication else { return true }
        return readable(file) != nil && readable(keyFile) != nil
    }

    private static func readable(_ path: String?) -> String? { path.flatMap { access($0, R_OK) == 0 ? $0 : nil } }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// What librdkafka refuses when the worker's clients are made, without the properties that are refused already.
    private static func clientMistakes(_ settings: Settings, besides known: Set<String>) -> [LibraryMistake] {
        let consumer = KafkaClientSettings.consumer(settings, lane: 0)
        let producer = KafkaClientSettings.producer(settings, lane: 0, instance: settings.kafka.instance ?? "check")
        var mistakes: [LibraryMistake] = []
        for (kind, properties) in [(KafkaLibrary.ClientKind.consumer, consumer), (.producer, producer)] {
            let others = properties.without(known)
            guard let refusal = KafkaLibrary.refusal(of: kind, properties: others) else { continue }
            // Of the properties in the sentence, one that the user wrote.
            let key = settings.kafka.properties.sorted.map(\.name).filter(refusal.contains).max { $0.count < $1.count }
            let mistake = LibraryMistake(
                path: Self.properties, key: key, message: "librdkafka refuses them: \(SafeText.escaped(refusal))")
            if !mistakes.contains(mistake) { mistakes.append(mistake) }
        }
        return mistakes
    }

    /// Files for TLS to the backend and its token endpoint; that they can be read is a rule of the settings.
    private static func backendMistakes(_ settings: Settings) -> [LibraryMistake] {
        let tls = settings.backend.tls
        let files = TLSFiles(
            caFile: readable(tls.caFile), certificateFile: readable(tls.certificateFile), keyFile: readable(tls.keyFile)
        )
        var found = mistakes(
            of: files,
            [
                .authorities: ("backend.tls.caFile", tls.caFile),
                .certificate: ("backend.tls.certificateFile", tls.certificateFile),
                .key: ("backend.tls.keyFile", tls.keyFile),
            ])
        if case .oauth2(let client) = settings.backend.authentication {
            found += mistakes(
                of: TLSFiles(caFile: readable(client.caFile)), [.authorities: ("backend.auth.caFile", client.caFile)])
        }
        return found
    }
}
