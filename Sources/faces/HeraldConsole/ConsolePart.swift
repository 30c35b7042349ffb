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
