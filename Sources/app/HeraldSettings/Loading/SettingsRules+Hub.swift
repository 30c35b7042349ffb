import HeraldText

/// The rules of `backend.kind` and `backend.hub.*`.
extension SettingsRules {
    /// The settings that say where and who a backend of kind `http` is; a hub's connection string says both.
    private var httpSettings: [any AnySetting] {
        let auth = table.backend.auth
        return [
            table.backend.url, table.backend.path, table.backend.registerPath, auth.kind, auth.username, auth.password,
            auth.passwordFile, auth.token, auth.tokenFile, auth.tokenURL, auth.clientID, auth.clientSecret,
            auth.clientSecretFile, auth.scope, auth.clientAuthentication, auth.caFile,
        ]
    }

    private var hubSettings: [any AnySetting] {
        let hub = table.backend.hub
        return [hub.connectionStringFile, hub.name, hub.tag, hub.formats, hub.retryUnanswered, hub.telemetry]
    }

    mutating func checkHub() {
        switch values.valid(table.backend.kind) {
        case .http:
            for setting in hubSettings where values.isWritten(setting) {
                warn(setting, "counts for nothing: backend.kind is http; a hub needs backend.kind: azure-hub")
            }
        case .azureHub:
            for setting in httpSettings where values.isWritten(setting) {
                refuse(
                    setting,
                    "does not go with backend.kind azure-hub, whose connection string has the address and the key; "
                        + "leave it out")
            }
            checkFormats()
        case nil: break
        }
    }

    private mutating func checkFormats() {
        guard let services = values.valid(table.backend.pushServices),
            let formats = values.valid(table.backend.hub.formats)
        else { return }
        for name in formats.keys.sorted() where !services.contains(name) {
            let allowed = services.joined(separator: ", ")
            refuse(table.backend.hub.formats, "\"\(name)\" is none of backend.pushServices; allowed: \(allowed)")
        }
        for name in services where formats[name] == nil && HubFormat(pushService: name) == nil {
            let allowed = HubFormat.allCases.map(\.rawValue).joined(separator: ", ")
            refuse(
                table.backend.pushServices,
                "\"\(name)\" has no format at a hub; name one in backend.hub.formats: \(allowed)")
        }
    }

    mutating func requireHub() {
        let hub = table.backend.hub
        requireSet(hub.connectionStringFile, because: "backend.kind is azure-hub")
        requireSet(hub.name, because: "backend.kind is azure-hub")
        if let path = values.valid(hub.connectionStringFile) ?? nil {
            checkReadable(.file(path), hub.connectionStringFile)
        }
    }
}

extension HubFormat {
    /// The usual format of a push service; `nil` when there is none.
    init?(pushService: String) {
        switch pushService {
        case "apns": self = .apple
        case "fcm", "gcm": self = .fcmv1
        case "wns": self = .windows
        case "browser": self = .browser
        default: return nil
        }
    }
}

extension SettingsSection<SettingsTable.Backend> {
    /// The hub's format of each push service, by its name.
    package var hubFormats: [String: HubFormat] {
        var formats: [String: HubFormat] = [:]
        for name in values[SettingsTable.declared.backend.pushServices] {
            formats[name] = values[SettingsTable.declared.backend.hub.formats][name] ?? HubFormat(pushService: name)
        }
        return formats
    }
}
