import HeraldText
import HeraldThreads

/// The rules that involve several settings.
///
/// A setting that was refused by itself is ignored.
struct SettingsRules {
    let values: SettingsValues
    private let isComplete: Bool
    private(set) var mistakes: [SettingsMistake] = []
    private(set) var warnings: [SettingsMistake] = []
    private(set) var sharedFiles: [SettingsMistake] = []

    let table = SettingsTable.declared

    /// Checks all rules, and the requirements of `needs`.
    ///
    /// - Parameter isComplete: Whether all sources were read to their end; otherwise nothing is reported as missing.
    init(_ values: SettingsValues, requiring needs: SettingsNeeds, isComplete: Bool) {
        self.values = values
        self.isComplete = isComplete
        checkKafka()
        checkKafkaAuthentication()
        checkTopics()
        checkClasses()
        checkPushServices()
        checkNames(of: table.limits.pushServices)
        checkSecrets()
        checkTLS()
        let target = values.valid(table.backend.kind)?.rules
        target?.check(&self)
        checkTraces()
        if needs.contains(.kafka) {
            requireKafka()
            requireKafkaAuthentication()
        }
        if needs.contains(.backend) {
            target?.require(&self)
            checkSecret(table.backend.proxyPasswordFile)
            requireReadable([
                table.backend.tls.caFile, table.backend.tls.certificateFile, table.backend.tls.keyFile,
                table.backend.auth.caFile,
            ])
        }
        if needs.contains(.kafka), needs.contains(.backend) {
            checkReadable(.adminToken)
            checkTraceFiles()
        }
    }

    mutating func refuse(_ setting: any AnySetting, _ message: String) {
        mistakes.append(SettingsMistake(place: values.place(setting), path: setting.path, message: message))
    }

    mutating func requireSet(_ setting: any AnySetting, because reason: String) {
        guard isComplete, !values.isWritten(setting) else { return }
        let ways = "write \(setting.path) into the file of --config, or set \(setting.variable)"
        let flag = setting.traits.isSecret ? "" : " or --\(setting.flag)"
        mistakes.append(
            SettingsMistake(place: .standard, path: setting.path, message: "is missing (\(reason)): \(ways)\(flag)"))
    }

    private mutating func checkKafka() {
        if values.valid(table.kafka.staticMembership) == true, !values.isWritten(table.kafka.instance) {
            refuse(table.kafka.staticMembership, "needs kafka.instance, the same name after each restart")
        }
    }

    private mutating func checkTopics() {
        var topics: [(setting: any AnySetting, name: String)] = []
        for request in values.valid(table.topics.requests) ?? [] {
            topics.append((table.topics.requests, request.name))
        }
        for setting in [
            table.topics.results, table.topics.deadLetter, table.topics.campaigns, table.topics.audiences,
            table.topics.state,
            table.topics.audit, table.topics.feedback, table.topics.preferences, table.topics.recalls,
            table.topics.caps, table.topics.retry,
        ] {
            if let name = values.valid(setting) { topics.append((setting, name)) }
        }
        var owners: [String: any AnySetting] = [:]
        let prefix = values.valid(table.topics.retry).map { $0 + "." }
        for (setting, name) in topics {
            // Kafka itself refuses two topics that differ only in dots and underscores.
            if let owner = owners.updateValue(setting, forKey: name.replacing("_", with: ".")) {
                let message = "\(setting.path) and \(owner.path) both name \"\(name)\"; every topic needs its own name"
                refuse(written(setting, or: owner), message)
            }
            if let prefix, name.hasPrefix(prefix) {
                let message = "\"\(name)\" (\(setting.path)) begins with \"\(prefix)\", as only retry topics may"
                refuse(written(setting, or: table.topics.retry), message)
            }
        }
        if let retention = values.valid(table.topics.retention), let elapsed = values.valid(table.retry.maxElapsed),
            retention < elapsed
        {
            refuse(
                written(table.topics.retention, or: table.retry.maxElapsed),
                "topics.retention is shorter than retry.maxElapsed: events that wait would be deleted")
        }
    }

    private mutating func checkClasses() {
        if let classes = values.valid(table.topics.classes), let requests = values.valid(table.topics.requests) {
            for name in classes.keys.sorted() where !requests.contains(where: { $0.name == name }) {
                let allowed = requests.map(\.name).joined(separator: ", ")
                refuse(table.topics.classes, "\"\(name)\" is none of topics.requests; allowed: \(allowed)")
            }
        }
        if values.valid(table.preferences.caps)?.isEmpty == false, values.valid(table.preferences.enabled) == false {
            refuse(table.preferences.caps, "needs preferences.enabled, because it counts promotional events")
        }
        guard values.valid(table.preferences.enabled) == true, isComplete else { return }
        if values.valid(table.retry.delays)?.isEmpty == true {
            refuse(
                table.retry.delays,
                "has no delay, and preferences.enabled needs one: what is held until a user's quiet hours end waits in a "
                    + "retry topic")
        }
        guard !values.isWritten(table.topics.classes) else { return }
        refuse(
            table.preferences.enabled,
            "needs topics.classes, because what is promotional is nobody's guess: write "
                + "topics.classes: {TOPIC: promotional} into the file of --config, or {} if no topic is promotional")
    }

    /// The one of two conflicting settings that is written.
    private func written(_ setting: any AnySetting, or other: any AnySetting) -> any AnySetting {
        values.isWritten(setting) ? setting : other
    }

    private mutating func checkPushServices() {
        guard values.isWritten(table.backend.aliases), let aliases = values.valid(table.backend.aliases),
            let services = values.valid(table.backend.pushServices)
        else { return }
        for (alias, target) in aliases.sorted(by: { $0.key < $1.key }) {
            if services.contains(alias) {
                refuse(table.backend.aliases, "\"\(alias)\" is one of backend.pushServices, so it cannot be an alias")
            }
            if !services.contains(target) {
                let allowed = services.joined(separator: ", ")
                refuse(
                    table.backend.aliases,
                    "\"\(alias)\" stands for \"\(target)\", which backend.pushServices lacks; allowed: \(allowed)")
            }
        }
    }

    /// Checks that the keys of a map are push services.
    mutating func checkNames<Value>(of setting: Setting<[String: Value]>) {
        guard let map = values.valid(setting), let services = values.valid(table.backend.pushServices) else { return }
        let allowed = services.joined(separator: ", ")
        for name in map.keys.sorted() where !services.contains(name) {
            refuse(setting, "\"\(name)\" is none of backend.pushServices; allowed: \(allowed)")
        }
    }

    private mutating func checkSecrets() {
        for pair in SecretPair.all {
            let rank = values.place(pair.literal).rank
            if rank > 0, rank == values.place(pair.file).rank {
                refuse(pair.file, "and \(pair.literal.path) are both set; one of them is enough")
            }
            if case .flag(let name) = values.place(pair.literal) {
                warn(
                    pair.literal,
                    "everybody on this machine can read --\(name) in the list of processes; "
                        + "use --\(pair.file.flag)")
            }
        }
        if let path = values.valid(table.console.tokenFile) { noteIfShared(path, table.console.tokenFile) }
        let auth = table.backend.auth
        if let url = values.valid(table.backend.url) {
            if !url.isTLS, !url.isLoopback, let kind = values.valid(auth.kind), kind != .none {
                warn(table.backend.url, "credentials go to \(url.host) unencrypted; use https://")
            }
            if let path = values.valid(table.backend.path), !path.isEmpty, url.basePath.hasSuffix(path) {
                warn(
                    table.backend.url,
                    "ends with backend.path already: calls go to \(url.basePath)\(path); leave \(path) out of one of them"
                )
            }
        }
        if values.valid(auth.kind) == .oauth2 { warnIfExposed(auth.tokenURL) }
        checkProxy()
    }

    private mutating func checkProxy() {
        let (proxy, file) = (table.backend.proxy, table.backend.proxyPasswordFile)
        guard !values.isMistaken(proxy) else { return }
        let text = values[proxy]?.reveal() ?? ""
        let user = text.lastIndex(of: "@").map { text[..<$0].drop { $0 != "/" }.dropFirst(2) }
        let hasPassword = user?.contains(":") == true
        if values.isWritten(file) {
            if user == nil { refuse(file, "needs a user in backend.proxy (http://user@…)") }
            if hasPassword { refuse(file, "and a password in backend.proxy are both set; one is enough") }
        }
        if hasPassword, case .flag(let name) = values.place(proxy) {
            warn(
                proxy,
                "everybody on this machine can read the password of --\(name) in the list of processes; "
                    + "use --\(file.flag)")
        }
    }

    mutating func warn(_ setting: any AnySetting, _ message: String) {
        warnings.append(SettingsMistake(place: values.place(setting), path: setting.path, message: message))
    }

    mutating func warnIfExposed(_ tokenURL: Setting<String?>) {
        guard let address = values.valid(tokenURL).flatMap(HTTPAddress.init(tokenURL:)), !address.isTLS,
            !address.isLoopback
        else { return }
        warn(
            tokenURL,
            "the client's secret and the tokens go between here and \(address.host) unencrypted; use https://")
    }

    private mutating func checkTLS() {
        let certificate = table.backend.tls.certificateFile
        let key = table.backend.tls.keyFile
        for (here, there) in [(certificate, key), (key, certificate)]
        where values.isWritten(here) && !values.isWritten(there) {
            refuse(here, "needs \(there.path)")
        }
    }

    private mutating func requireKafka() {
        requireSet(table.kafka.bootstrapServers, because: "the brokers to begin with")
        if values.place(table.kafka.bootstrapServers) != .standard,
            values.valid(table.kafka.bootstrapServers)?.isEmpty == true
        {
            refuse(table.kafka.bootstrapServers, "is empty; one broker is needed")
        }
    }

    /// Checks files that are read at the start.
    mutating func requireReadable(_ files: [Setting<String?>]) {
        for setting in files {
            guard let path = values.valid(setting) else { continue }
            do throws(InputError) {
                _ = try BoundedFile.read(path, limit: 16_777_216)
            } catch {
                refuse(setting, "\(SafeText.quoted(path, limit: 200)) \(error.message)")
            }
        }
    }

    mutating func requireSecret(_ pair: SecretPair, because reason: String) {
        if !values.isWritten(pair.literal) { requireSet(pair.file, because: reason) }
        checkReadable(pair)
    }

    mutating func requireSecret(_ file: Setting<String?>, because reason: String) {
        requireSet(file, because: reason)
        checkSecret(file)
    }

    private mutating func checkSecret(_ file: Setting<String?>) {
        if let path = values.valid(file) { checkReadable(.file(path), file) }
    }

    private mutating func checkReadable(_ pair: SecretPair) {
        guard !values.isMistaken(pair.literal), !values.isMistaken(pair.file), let source = values.secret(pair) else {
            return
        }
        checkReadable(source, pair.file)
    }

    private mutating func checkReadable(_ source: SecretSource, _ setting: any AnySetting) {
        do throws(InputError) {
            _ = try source.current()
        } catch {
            return refuse(setting, error.description)
        }
        if case .file(let path) = source { noteIfShared(path, setting) }
    }

    private mutating func noteIfShared(_ path: String, _ setting: any AnySetting) {
        guard FileAccess(ofOthersTo: path).isReadable else { return }
        let message = "everybody on this machine can read \(SafeText.quoted(path, limit: 200)): chmod o-r"
        sharedFiles.append(SettingsMistake(place: values.place(setting), path: setting.path, message: message))
    }

    private mutating func checkTraces() {
        guard let address = values.valid(table.traces.url), values.isWritten(table.traces.headersFile) else {
            return
        }
        if !address.isTLS, !address.isLoopback {
            warn(table.traces.url, "the headers of traces.headersFile go to \(address.host) unencrypted; use https://")
        }
    }

    /// Reports at the start a mistake that would cost a worker every span.
    private mutating func checkTraceFiles() {
        guard values.valid(table.traces.url) != nil else { return }
        requireReadable([table.traces.caFile])
        guard let path = values.valid(table.traces.headersFile) else { return }
        do throws(InputError) {
            _ = try HeaderFile.read(path)
        } catch {
            refuse(table.traces.headersFile, "\(SafeText.quoted(path, limit: 200)) \(error)")
        }
    }
}
