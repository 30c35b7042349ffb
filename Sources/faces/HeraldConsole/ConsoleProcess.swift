internal import HeraldThreads
internal import HeraldTimeline

/// The console with all its parts, for the life of its process.
package final class ConsoleProcess: Sendable {
    private let server: ConsoleServer
    private let parts: [any ConsolePart]
    private let configuration: ConsoleServer.Configuration

    /// Starts the parts and serves.
    ///
    /// - Parameter onLinkUse: called with the next one-time link when one was used.
    package init(
        _ configuration: ConsoleServer.Configuration, _ context: ConsoleContext,
        onLinkUse: @escaping @Sendable (String) -> Void
    ) throws {
        let news = ConsoleNews()
        parts = try Self.parts(context, allowsChanges: configuration.allowsChanges, news: news)
        for part in parts { try part.start() }
        self.configuration = configuration
        let port = Guarded<UInt16>(configuration.port)
        server = try ConsoleServer(configuration, routes: parts.flatMap(\.routes), news: news) { key in
            onLinkUse(configuration.link(port: port.withLock { $0 }, key: key))
        }
        let taken = server.port
        port.withLock { $0 = taken }
    }

    package var address: String { server.address }

    /// A link that signs one browser in as operator; it voids the previous one.
    package func newLink() -> String { configuration.link(port: server.port, key: server.newOneTimeKey()) }

    /// Ends jobs so that they can go on later, and closes the port.
    package func stop() {
        server.stop()
        for part in parts { part.stop() }
    }

    private static func parts(
        _ context: ConsoleContext, allowsChanges: Bool, news: ConsoleNews
    ) throws -> [any ConsolePart] {
        let jobs = JobsPart(news: news)
        let failures = try FailuresPart(context, jobs: jobs.jobs, news: news)
        return [
            try NowPart(context.now, news: news, failures: failures), jobs, failures,
            try FindPart(context, planned: failures.starter.planned),
            try CampaignsPart(context, allowsChanges: allowsChanges, jobs: jobs.jobs),
            try PreferencesPart(context), try RecallPart(context), try AccountPart(context), AuditPart(context),
        ]
    }
}

extension ConsoleServer.Configuration {
    package var isOnLoopback: Bool { host == "::1" || host.hasPrefix("127.") }

    /// The key is in the fragment, which browsers do not send.
    fileprivate func link(port: UInt16, key: String) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/#key=\(key)"
    }
}
