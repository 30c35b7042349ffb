package import HeraldHub
import HeraldText

/// The rules of a notification hub: `backend.hub.*`, and what does not go with them.
struct HubRules: TargetRules {
    /// The settings for the address, body and login of an `http` backend; a hub's connection string has both.
    private static var strange: [any AnySetting] {
        let backend = SettingsTable.declared.backend
        return [backend.url, backend.path, backend.registerPath, backend.body]
            + SettingsTable.settings(in: backend.auth)
    }

    func check(_ rules: inout SettingsRules) {
        let backend = rules.table.backend
        for setting in Self.strange where rules.values.isWritten(setting) {
            rules.refuse(
                setting,
                "does not go with backend.kind azure-hub, whose connection string has the address and the key; "
                    + "leave it out")
        }
        if rules.values.valid(backend.users) == .text {
            rules.refuse(backend.users, "text does not go with backend.kind azure-hub: no tag can hold it")
        }
        guard let services = rules.values.valid(backend.pushServices),
            let formats = rules.values.valid(backend.hub.formats)
        else { return }
        rules.checkNames(of: backend.hub.formats)
        for name in services where formats[name] == nil && NotificationFormat(pushService: name) == nil {
            let allowed = NotificationFormat.allCases.map(\.rawValue).joined(separator: ", ")
            rules.refuse(
                backend.pushServices,
                "\"\(name)\" has no format at a hub; name one in backend.hub.formats: \(allowed)")
        }
    }

    func require(_ rules: inout SettingsRules) {
        let hub = rules.table.backend.hub
        rules.requireSecret(hub.connectionStringFile, because: "backend.kind is azure-hub")
        rules.requireSet(hub.name, because: "backend.kind is azure-hub")
    }
}

extension NotificationFormat {
    /// The usual format of a push service; `nil` without one.
    fileprivate init?(pushService: String) {
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
    package var hubFormats: [String: NotificationFormat] {
        var formats: [String: NotificationFormat] = [:]
        for name in values[SettingsTable.declared.backend.pushServices] {
            formats[name] = values[SettingsTable.declared.backend.hub.formats][name] ?? .init(pushService: name)
        }
        return formats
    }
}
