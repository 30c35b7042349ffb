/// What calls go to.
package enum BackendKind: String, Sendable, CaseIterable {
    case http
    /// An Azure Notification Hub.
    case azureHub = "azure-hub"

    /// The rules of its settings: a further kind has a line here.
    var rules: any TargetRules {
        switch self {
        case .http: HTTPRules()
        case .azureHub: HubRules()
        }
    }
}

/// The rules that only one kind of backend has.
protocol TargetRules {
    /// What its settings may not be beside each other, and beside those of other kinds.
    func check(_ rules: inout SettingsRules)
    /// What a command needs that calls it.
    func require(_ rules: inout SettingsRules)
}
