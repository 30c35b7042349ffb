struct HTTPRules: TargetRules {
    func check(_ rules: inout SettingsRules) {
        for setting in SettingsTable.settings(in: rules.table.backend.hub) where rules.values.isWritten(setting) {
            rules.warn(setting, "counts for nothing: backend.kind is http; a hub needs backend.kind: azure-hub")
        }
    }

    func require(_ rules: inout SettingsRules) {
        let auth = rules.table.backend.auth
        rules.requireSet(rules.table.backend.url, because: "where the backend is")
        guard let kind = rules.values.valid(auth.kind) else { return }
        let reason = "backend.auth.kind is \(kind.rawValue)"
        switch kind {
        case .basic: rules.requireSet(auth.username, because: reason)
        case .oauth2:
            rules.requireSet(auth.tokenURL, because: reason)
            rules.requireSet(auth.clientID, because: reason)
        case .bearer, .none: break
        }
        if let secret = kind.secret { rules.requireSecret(secret, because: reason) }
    }
}
