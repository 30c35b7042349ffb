/// The person at the console.
struct Viewer: Sendable, Equatable {
    enum Role: String, Sendable {
        /// May look, but sees no message's text.
        case viewer
        /// May also reveal texts and, where the console allows changes, make them.
        case `operator`
    }

    /// For the audit.
    let name: String
    let role: Role
    let allowsChanges: Bool
    /// Whether the person may change things: an operator on a console run with `--allow-changes`.
    var canChange: Bool { role == .operator && allowsChanges }
}
