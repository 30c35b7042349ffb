/// The person at the console.
package struct Viewer: Sendable, Equatable {
    package enum Role: String, Sendable {
        /// Looks; sees no message's text.
        case viewer
        /// May also reveal texts and, where the console allows changes, make them.
        case `operator`
    }

    /// For the audit.
    package let name: String
    package let role: Role
    /// Whether it may change anything: an operator, and the console runs with `--allow-changes`.
    package let canChange: Bool

    package init(name: String, role: Role, allowsChanges: Bool) {
        self.name = name
        self.role = role
        canChange = role == .operator && allowsChanges
    }
}
