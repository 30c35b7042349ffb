/// The person at the console.
package struct Viewer: Sendable, Equatable {
    package enum Role: String, Sendable {
        /// May look, but sees no message's text.
        case viewer
        /// May also reveal texts and, where the console allows changes, make them.
        case `operator`
    }

    /// For the audit.
    package let name: String
    package let role: Role
    /// Whether the person may change things: an operator on a console run with `--allow-changes`.
    package let canChange: Bool

    package init(name: String, role: Role, allowsChanges: Bool) {
        self.name = name
        self.role = role
        canChange = role == .operator && allowsChanges
    }
}
