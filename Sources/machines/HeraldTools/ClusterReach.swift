internal import Glibc
package import HeraldEvents
package import HeraldKafka
import HeraldTime

/// The first words with a cluster: a bounded time for its answer, and what to say when none comes.
package struct ClusterReach: Sendable {
    /// How long a cluster may keep a tool waiting for its first answer.
    package static let patience = Duration.seconds(8)

    /// How long one question may take: short at first, because refused credentials are seen between two questions.
    private static let questionTimeouts: [Milliseconds] = [.seconds(1), .seconds(2), .seconds(5)]

    private let bootstrapServers: String
    private let patience: Duration

    /// The cluster at these addresses.
    ///
    /// - Parameter patience: how long it may keep a tool waiting for its first answer.
    package init(bootstrapServers: [String], patience: Duration = ClusterReach.patience) {
        self.bootstrapServers = bootstrapServers.joined(separator: ",")
        self.patience = patience
    }

    /// Brokers and all topics that this user may see; blocks for its patience at most.
    package func allTopics(_ admin: Admin) throws(ToolFailure) -> ClusterMetadata {
        try answer(of: admin) { timeout throws(KafkaError) in
            try admin.metadata(timeout: timeout)
        }
    }

    /// Brokers and these topics; blocks for its patience at most when no broker answers.
    package func topics(_ names: [String], _ admin: Admin) throws(ToolFailure) -> ClusterMetadata {
        try answer(of: admin) { timeout throws(KafkaError) in
            try admin.metadata(topics: names, timeout: timeout)
        }
    }

    /// The delays whose topics workers read, the shortest first: also of topics of earlier settings.
    ///
    /// - Parameter configured: those of the settings.
    package func delays(_ configured: [DelayName], of topics: Topics, _ admin: Admin) throws(ToolFailure) -> [DelayName]
    {
        topics.delays(configured, among: try allTopics(admin).topics.lazy.filter { $0.error == nil }.map(\.name))
    }

    private func answer(
        of admin: Admin, _ question: (Milliseconds) throws(KafkaError) -> ClusterMetadata
    ) throws(ToolFailure) -> ClusterMetadata {
        var cause: Cause?
        let end = ContinuousClock.now + patience
        for number in 0... {
            let left = max(.milliseconds(1), Milliseconds(end - .now))
            let wait = Self.questionTimeouts[min(number, Self.questionTimeouts.count - 1)]
            do throws(KafkaError) {
                return try question(min(wait, left))
            } catch {
                for notice in admin.takeNotices().notices {
                    if let refused = refusal(notice.error) { throw refused }
                    if notice.error.map(Self.isNews) ?? (notice.level <= 4 || Cause.isOfVersions(notice)) {
                        cause = Cause(notice)
                    }
                }
                if let refused = refusal(error) { throw refused }
                guard error.kind == .unreachable else {
                    throw ToolFailure(bootstrapServers, error)
                }
            }
            guard ContinuousClock.now < end else { break }
            // Nothing tells when a broker can be asked again.
            usleep(50_000)
        }
        throw unreachable(cause)
    }

    /// What the client noted about brokers that do not answer.
    private struct Cause {
        /// For people; `nil` when there is nothing to say but the client's own words.
        let words: String?
        let detail: String
        /// Whether one side speaks TLS and the other does not, or does not trust it.
        let isOfTLS: Bool

        init(_ notice: ClientNotice) {
            words = notice.error?.words
            detail = notice.text
            // To a broker that speaks TLS a plain client says so in these words.
            isOfTLS =
                notice.error?.code == KafkaError.Code.ssl || notice.text.contains("security.protocol")
                || Self.isOfVersions(notice)
        }

        /// Whether a connection ended with the first question on it, which is all that newer versions of librdkafka tell of a
        /// port that speaks TLS.
        static func isOfVersions(_ notice: ClientNotice) -> Bool { notice.text.contains("in state APIVERSION_QUERY") }
    }

    /// What to say when no broker answers.
    private func unreachable(_ cause: Cause?) -> ToolFailure {
        ToolFailure(
            "no broker answers at \(bootstrapServers)" + (cause?.words.map { " (\($0))" } ?? "")
                + (cause?.isOfTLS == true
                    ? "; check whether that port speaks TLS, and security.protocol, certificates and authorities in "
                        + "kafka.properties: herald doctor tries each step"
                    : "; check kafka.bootstrapServers, and whether Kafka runs"),
            kind: .unreachable, detail: cause?.detail)
    }

    private func refusal(_ error: KafkaError?) -> ToolFailure? {
        switch error?.kind {
        case .refusedCredentials: ToolFailure("\(bootstrapServers) refuses the credentials: \(error?.message ?? "")")
        case .noToken: ToolFailure("cannot log in to \(bootstrapServers): \(error?.message ?? "")")
        default: nil
        }
    }

    /// "All brokers are down" says less than what was noted before it.
    private static func isNews(_ error: KafkaError) -> Bool { error.code != KafkaError.Code.allBrokersDown }
}
