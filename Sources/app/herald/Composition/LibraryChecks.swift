import Glibc
import HeraldHTTP
import HeraldKafka
import HeraldSettings
import HeraldText

/// Asks librdkafka and TLS about the settings before anything is connected: what they refuse would end a worker, or keep it
/// waiting for ever.
struct LibraryChecks {
    /// A file of TLS, with what names it: a setting, perhaps with one of its keys.
    private typealias NamedFile = (setting: String, key: String?, file: String?)

    private static let properties = "kafka.properties"

    private let settings: Settings
    private var properties: KafkaProperties { settings.kafka.properties }
    private(set) var mistakes: [SettingsMistake] = []
    /// Properties of which a mistake is known.
    private var known: Set<String> = []

    /// - Parameter needs: files are looked at only for what the command needs.
    init(_ settings: Settings, requiring needs: SettingsNeeds) {
        self.settings = settings
        checkProperties()
        if needs.contains(.kafka) {
            checkPropertyFiles()
            checkLoginFiles()
            checkClients()
        }
        if needs.contains(.backend) { checkBackendFiles() }
    }

    private mutating func refuse(_ setting: String, _ key: String?, _ message: String) {
        if let key { known.insert(key) }
        let mistake = settings.mistake(at: setting, key: key, message)
        if !mistakes.contains(mistake) { mistakes.append(mistake) }
    }

    /// Properties that librdkafka does not have, or not with this value.
    private mutating func checkProperties() {
        for found in KafkaLibrary.check(properties: properties.sorted.map { ($0.name, $0.value) }) {
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
            refuse(Self.properties, name, message)
        }
    }

    /// Files that librdkafka would read, of which each gets its own sentence; it stops at the first itself.
    private mutating func checkPropertyFiles() {
        let authorities = "ssl.ca.location"
        for name in [authorities] + Self.certificateProperties + ["ssl.keystore.location", "ssl.crl.location"] {
            // librdkafka looks for the system's authorities itself.
            guard let path = properties[name], name != authorities || path != "probe", access(path, R_OK) != 0 else {
                continue
            }
            let reason = String(cString: strerror(errno))
            refuse(Self.properties, name, "\(name): \(SafeText.quoted(path, limit: 200)) cannot be read: \(reason)")
        }
        var names: [TLSFiles.Part: String] = [.certificate: "ssl.certificate.location"]
        if let path = properties[authorities], !Self.isDirectory(path) { names[.authorities] = authorities }
        if properties["ssl.key.password"] == nil { names[.key] = "ssl.key.location" }
        check(names.mapValues { (Self.properties, $0, properties[$0]) })
    }

    private static let certificateProperties = ["ssl.certificate.location", "ssl.key.location"]

    private mutating func checkLoginFiles() {
        let count = mistakes.count
        let auth = settings.kafka.auth
        if auth.kind == .oauthbearer { check([.authorities: ("kafka.auth.caFile", nil, auth.caFile)]) }
        guard auth.kind == .certificate, let file = auth.certificateFile, let keyFile = auth.keyFile else { return }
        var files: [TLSFiles.Part: NamedFile] = [.certificate: ("kafka.auth.certificateFile", nil, file)]
        if properties["ssl.key.password"] == nil { files[.key] = ("kafka.auth.keyFile", nil, keyFile) }
        check(files)
        // That they can't be read is said in the words of the settings, as is what else is wrong with them.
        if mistakes.count > count || Self.readable(file) == nil || Self.readable(keyFile) == nil {
            known.formUnion(Self.certificateProperties)
        }
    }

    /// What librdkafka refuses when the worker's clients are made, without the properties that are refused already.
    private mutating func checkClients() {
        let consumer = KafkaClientSettings.consumer(settings, lane: 0)
        let producer = KafkaClientSettings.producer(settings, lane: 0, instance: settings.kafka.instance ?? "check")
        let refused = known
        for (kind, client) in [(KafkaLibrary.ClientKind.consumer, consumer), (.producer, producer)] {
            guard let refusal = KafkaLibrary.refusal(of: kind, properties: client.without(refused)) else { continue }
            // Of the properties in the sentence, one that the user wrote.
            let key = properties.sorted.map(\.name).filter(refusal.contains).max { $0.count < $1.count }
            refuse(Self.properties, key, "librdkafka refuses them: \(SafeText.escaped(refusal))")
        }
    }

    private mutating func checkBackendFiles() {
        let tls = settings.backend.tls
        check([
            .authorities: ("backend.tls.caFile", nil, tls.caFile),
            .certificate: ("backend.tls.certificateFile", nil, tls.certificateFile),
            .key: ("backend.tls.keyFile", nil, tls.keyFile),
        ])
        let auth = settings.backend.auth
        if auth.kind == .oauth2 { check([.authorities: ("backend.auth.caFile", nil, auth.caFile)]) }
    }

    /// Checks the content of files; that they can be read is a rule of the settings.
    private mutating func check(_ files: [TLSFiles.Part: NamedFile]) {
        func file(_ part: TLSFiles.Part) -> String? { Self.readable(files[part]?.file) }
        let content = TLSFiles(
            caFile: file(.authorities), certificateFile: file(.certificate), keyFile: file(.key))
        for found in content.mistakes() {
            guard let (setting, key, file) = files[found.part] else { continue }
            let message = "\(SafeText.quoted(file ?? "", limit: 200)) \(found.message)"
            refuse(setting, key, key.map { "\($0): \(message)" } ?? message)
        }
    }

    private static func readable(_ path: String?) -> String? { path.flatMap { access($0, R_OK) == 0 ? $0 : nil } }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
