import HeraldText

/// The rules that join several settings.
///
/// A setting that was refused for itself takes part in none.
struct SettingsRules {
    private let values: SettingsValues
    private let isComplete: Bool
    private(set) var mistakes: [SettingsMistake] = []
    private(set) var warnings: [SettingsMistake] = []

    private typealias Table = SettingsTable

    /// Checks all rules, and what the needs demand.
    ///
    /// - Parameter isComplete: whether all sources were read to their end; else nothing is said to be missing.
    init(_ values: SettingsValues, requiring needs: SettingsNeeds, isComplete: Bool) {
        self.values = values
        self.isComplete = isComplete
        checkKafka()
        checkTopics()
        checkPushServices()
        checkRates()
        checkSecrets()
        checkTLS()
        if needs.contains(.kafka) { requireKafka() }
        if needs.contains(.backend) { requireBackend() }
        if needs.contains(.kafka), needs.contains(.backend) { checkReadable(.adminToken) }
    }

    private mutating func refuse(_ setting: any AnySetting, _ message: String) {
        mistakes.append(SettingsMistake(place: values.place(setting), path: setting.path, message: message))
    }

    private mutating func requireSet(_ setting: any AnySetting, because reason: String) {
        guard isComplete, !values.isWritten(setting) else { return }
        let ways = "write \(setting.path) into the file, or set \(setting.variable)"
        let flag = setting.traits.isSecret ? "" : " or --\(setting.flag)"
        mistakes.append(
            SettingsMistake(place: .standard, path: setting.path, message: "is missing (\(reason)): \(ways)\(flag)"))
    }

    private mutating func checkKafka() {
        if values.valid(Table.kafkaStaticMembership) == true, !values.isWritten(Table.kafkaInstance) {
            refuse(Table.kafkaStaticMembership, "needs kafka.instance, the same name after each restart")
        }
    }

    private mutating func checkTopics() {
        var topics: [(setting: any AnySetting, name: String)] = []
        for request in values.valid(Table.topicsRequests) ?? [] { topics.append((Table.topicsRequests, request.name)) }
        for setting in [
            Table.topicsResults, Table.topicsDeadLetter, Table.topicsCampaigns, Table.topicsState, Table.topicsAudit,
            Table.topicsRetry,
        ] {
            if let name = values.valid(setting) { topics.append((setting, name)) }
        }
        var owners: [String: any AnySetting] = [:]
        let prefix = values.valid(Table.topicsRetry).map { $0 + "." }
        for (setting, name) in topics {
            // Kafka itself refuses two topics that differ in dots and underscores only.
            if let owner = owners.updateValue(setting, forKey: name.replacing("_", with: ".")) {
                let message = "\(setting.path) and \(owner.path) both name \"\(name)\"; every topic needs its own name"
                refuse(written(setting, or: owner), message)
            }
            if let prefix, name.hasPrefix(prefix) {
                let message = "\"\(name)\" (\(setting.path)) begins with \"\(prefix)\", as only retry topics may"
                refuse(written(setting, or: Table.topicsRetry), message)
            }
        }
        if let retention = values.valid(Table.topicsRetention), let elapsed = values.valid(Table.retryMaxElapsed),
            retention < elapsed
        {
            refuse(
                written(Table.topicsRetention, or: Table.retryMaxElapsed),
                "topics.retention is shorter than retry.maxElapsed: events that wait would be deleted")
        }
    }

    /// Of two settings that do not go together, the one that somebody wrote.
    private func written(_ setting: any AnySetting, or other: any AnySetting) -> any AnySetting {
        values.isWritten(setting) ? setting : other
    }

    private mutating func checkPushServices() {
        guard values.isWritten(Table.backendAliases), let aliases = values.valid(Table.backendAliases),
            let services = values.valid(Table.backendPushServices)
        else { return }
        for (alias, target) in aliases.sorted(by: { $0.key < $1.key }) {
            if services.contains(alias) {
                refuse(Table.backendAliases, "\"\(alias)\" is one of backend.pushServices, so it cannot be an alias")
            }
            if !services.contains(target) {
                let allowed = services.joined(separator: ", ")
                refuse(
                    Table.backendAliases,
                    "\"\(alias)\" stands for \"\(target)\", which backend.pushServices lacks; allowed: \(allowed)")
            }
        }
    }

    private mutating func checkRates() {
        guard let rates = values.valid(Table.limitsPushServices), let services = values.valid(Table.backendPushServices)
        else { return }
        for name in rates.keys.sorted() where !services.contains(name) {
            let allowed = services.joined(separator: ", ")
            refuse(
                Table.limitsPushServices,
                "\"\(name)\" is none of backend.pushServices; allowed: \(allowed)")
        }
    }

    private mutating func checkSecrets() {
        for pair in SecretPair.all {
            if let rank = values.rank(pair.literal), rank == values.rank(pair.file) {
                refuse(pair.file, "and \(pair.literal.path) are both set; one of them is enough")
            }
            if case .flag(let name) = values.place(pair.literal) {
                warn(
                    pair.literal,
                    "everybody on this machine can read --\(name) in the list of processes; "
                        + "use --\(pair.file.flag)")
            }
        }
        if let url = values.valid(Table.backendURL) ?? nil, !url.isTLS, !url.isLoopback,
            let kind = values.valid(Table.backendAuthKind), kind != .none
        {
            warn(Table.backendURL, "credentials go to \(url.host) unencrypted; use https://")
        }
        if values.valid(Table.backendAuthKind) == .oauth2, let url = values.valid(Table.backendAuthTokenURL) ?? nil,
            let address = HTTPAddress(tokenURL: url), !address.isTLS, !address.isLoopback
        {
            warn(
                Table.backendAuthTokenURL,
                "the client's secret and the tokens go between here and \(address.host) unencrypted; use https://")
        }
        checkProxy()
    }

    private mutating func checkProxy() {
        guard let proxy = values.valid(Table.backendProxy) else { return }
        let text = proxy?.reveal() ?? ""
        let user = text.lastIndex(of: "@").map { text[..<$0].drop { $0 != "/" }.dropFirst(2) }
        if values.isWritten(Table.backendProxyPasswordFile) {
            if user == nil { refuse(Table.backendProxyPasswordFile, "needs a user in backend.proxy (http://user@…)") }
            if user?.contains(":") == true {
                refuse(Table.backendProxyPasswordFile, "and a password in backend.proxy are both set; one is enough")
            }
        }
        if user?.contains(":") == true, case .flag(let name) = values.place(Table.backendProxy) {
            warn(
                Table.backendProxy,
                "everybody on this machine can read the password of --\(name) in the list of processes; "
                    + "use --\(Table.backendProxyPasswordFile.flag)")
        }
    }

    private mutating func warn(_ setting: any AnySetting, _ message: String) {
        warnings.append(SettingsMistake(place: values.place(setting), path: setting.path, message: message))
    }

    private mutating func checkTLS() {
        let certificate = Table.backendTLSCertificateFile
        let key = Table.backendTLSKeyFile
        for (here, there) in [(certificate, key), (key, certificate)]
        where values.isWritten(here) && !values.isWritten(there) {
            refuse(here, "needs \(there.path)")
        }
    }

    private mutating func requireKafka() {
        requireSet(Table.kafkaBootstrapServers, because: "the brokers to begin with")
        if values.rank(Table.kafkaBootstrapServers) != nil,
            values.valid(Table.kafkaBootstrapServers)?.isEmpty == true
        {
            refuse(Table.kafkaBootstrapServers, "is empty; one broker is needed")
        }
    }

    private mutating func requireBackend() {
        requireSet(Table.backendURL, because: "where the backend is")
        switch values.valid(Table.backendAuthKind) {
        case .some(.basic):
            requireSet(Table.backendAuthUsername, because: "backend.auth.kind is basic")
            requireSecret(.password, because: "backend.auth.kind is basic")
        case .some(.bearer): requireSecret(.token, because: "backend.auth.kind is bearer")
        case .some(.oauth2):
            requireSet(Table.backendAuthTokenURL, because: "backend.auth.kind is oauth2")
            requireSet(Table.backendAuthClientID, because: "backend.auth.kind is oauth2")
            requireSecret(.clientSecret, because: "backend.auth.kind is oauth2")
        case .some(.none), nil: break
        }
        if let path = values.valid(Table.backendProxyPasswordFile) ?? nil {
            checkReadable(.file(path), Table.backendProxyPasswordFile)
        }
        for setting in [
            Table.backendTLSCAFile, Table.backendTLSCertificateFile, Table.backendTLSKeyFile, Table.backendAuthCAFile,
        ] {
            guard let path = values.valid(setting) ?? nil else { continue }
            do throws(BoundedFile.Failure) {
                _ = try BoundedFile.read(path, limit: 16_777_216)
            } catch {
                refuse(setting, "\(SafeText.quoted(path, limit: 200)) \(error.reason)")
            }
        }
    }

    private mutating func requireSecret(_ pair: SecretPair, because reason: String) {
        guard !values.isWritten(pair.literal) else { return checkReadable(pair) }
        requireSet(pair.file, because: reason)
        checkReadable(pair)
    }

    private mutating func checkReadable(_ pair: SecretPair) {
        guard values.valid(pair.literal) != nil, values.valid(pair.file) != nil, let source = values.secret(pair) else {
            return
        }
        checkReadable(source, pair.file)
    }

    private mutating func checkReadable(_ source: SecretSource, _ setting: any AnySetting) {
        do throws(SecretSource.Unreadable) {
            _ = try source.current()
        } catch {
            refuse(setting, error.description)
        }
    }
}
