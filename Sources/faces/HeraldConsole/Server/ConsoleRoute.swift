/// One address of the console's interface, and the right it needs.
struct ConsoleRoute: Sendable {
    typealias Handler = @Sendable (ConsoleRequest) throws -> ConsoleAnswer

    enum Need: Sendable {
        case look
        /// An operator; it changes nothing in Kafka but the audit.
        case operate
        /// An operator on a console that allows changes.
        case change
    }

    let method: String
    let need: Need
    private let pattern: [Substring]
    let handler: Handler

    /// A route that reads; every signed-in viewer may use it.
    ///
    /// - Parameter pattern: such as `/api/failures/letters/*`; a star matches one segment.
    static func get(_ pattern: String, _ handler: @escaping Handler) -> Self {
        Self(method: "GET", need: .look, pattern: pattern.split(separator: "/"), handler: handler)
    }

    /// A route for operators only, which changes nothing but the audit.
    static func operate(_ pattern: String, _ handler: @escaping Handler) -> Self {
        Self(method: "POST", need: .operate, pattern: pattern.split(separator: "/"), handler: handler)
    }

    /// A route that changes things: for operators, on a console that allows changes.
    static func change(_ pattern: String, _ handler: @escaping Handler) -> Self {
        Self(method: "POST", need: .change, pattern: pattern.split(separator: "/"), handler: handler)
    }

    /// The values of the stars when the path matches; `nil` when it does not.
    func parameters(of segments: [String]) -> [String]? {
        guard segments.count == pattern.count else { return nil }
        var parameters: [String] = []
        for (segment, wanted) in zip(segments, pattern) {
            if wanted == "*" { parameters.append(segment) } else if segment != wanted { return nil }
        }
        return parameters
    }

    /// The reason why this person may not; `nil` when they may.
    func refusal(of viewer: Viewer) -> String? {
        switch need {
        case .look: nil
        case .operate: viewer.role == .operator ? nil : "only an operator may do that; \(viewer.name) is a viewer"
        case .change:
            if viewer.canChange {
                nil
            } else if viewer.role == .operator {
                "this console is read-only; start it with --allow-changes"
            } else {
                "only an operator may do that; \(viewer.name) is a viewer"
            }
        }
    }
}

/// One page's part of the console: its routes and its background work.
protocol ConsolePart: Sendable {
    var routes: [ConsoleRoute] { get }

    /// Starts the background work, before the console is served.
    func start() throws

    /// Ends it after the console is closed; jobs stop where they can go on later.
    func stop()
}

/// Most parts have no background work.
extension ConsolePart {
    func start() {}

    func stop() {}
}
