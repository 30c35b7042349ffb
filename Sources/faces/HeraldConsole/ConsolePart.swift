/// A page's share of the console: what it answers, and what it does meanwhile.
package protocol ConsolePart: Sendable {
    var routes: [ConsoleRoute] { get }

    /// Begins what goes on by itself, before the console is served.
    func start() throws

    /// Ends it, after the console is closed; jobs stop where the same job goes on later.
    func stop()
}

/// Most do nothing by themselves.
extension ConsolePart {
    func start() {}

    func stop() {}
}
