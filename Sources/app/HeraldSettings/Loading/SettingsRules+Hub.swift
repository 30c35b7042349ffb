import HeraldText

/// The rules of `backend.kind` and `backend.hub.*`.
extension SettingsRules {
    /// The settings for the address and login of an `http` backend; a hub's connection string has both.
    private var httpSettings: [any AnySetting] {
        [table.backend.url, table.backend.path, table.backend.registerPath]
            + SettingsTable.settings(in: table.backend.auth)
    }

    mutating func checkHub() {
        switch values.valid(table.backend.kind) {
        case .http:
            for setting in SettingsTable.settings(in: table.backend.hub) where values.isWritten(setting) {
                warn(setting, "counts for nothing: backend.kind is http; a hub needs backend.kind: azure-hub")
            }
        case .azureHub:
            for setting in httpSettings where values.isWritten(setting) {
                refuse(
                    setting,
                    "does not go with backend.kind azure-hub, whose connection string has the address and the key; "
                        + "leave it out")
            }
            if values.valid(table.backend.users) == .text {
                refuse(table.backend.users, "text does not go with backend.kind azure-hub: no tag can hold it")
            }
            checkFormats()
        case nil: break
        }
    }

    private mutating func checkFormats() {
        guard let services = values.valid(table.backend.pushServices),
            let formats = values.valid(table.backend.hub.formats)
        else { return }
        checkNames(of: table.backend.hub.formats)
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
    /// The usual format of a push service; `nil` without one.
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
