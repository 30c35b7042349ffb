package import HeraldEvents
internal import HeraldText

/// What a worker's `/status` answers, as far as it is of interest here.
package struct WorkerStatus: Decodable, Sendable, Equatable {
    package struct Group: Decodable, Sendable, Equatable {
        package var name: String
        package var member: Bool
    }

    package struct Assignment: Decodable, Sendable, Equatable {
        package var partitions: Int
    }

    /// A push service; the empty name is that of events that name none.
    package struct Service: Decodable, Sendable, Equatable {
        package var pns: String
        /// How many notifications ended how, since its start.
        package var notifications: [String: Double] = [:]
        /// How many calls ended how; absent where there are none.
        package var calls: [String: Double]?
        /// What it bears, where the backend has asked for fewer.
        package var callsPerSecond: Double?
    }

    /// How many notifications ended within so many seconds of their publication, or however late.
    package struct Bucket: Decodable, Sendable, Equatable {
        package var withinSeconds: Double?
        package var count: Double
    }

    /// What keeps it from delivering; empty when it delivers.
    package var reasons: [Finding] = []
    /// What it warns of besides.
    package var warnings: [Finding] = []
    package var group = Group(name: "", member: true)
    package var assignment = Assignment(partitions: 0)
    package var outages: [String] = []
    package var version = ""
    /// When the process was started, in seconds since the Unix epoch; absent where that is not known.
    package var startSeconds: Double?
    package var inFlight = 0.0
    package var inFlightLimit = 0.0
    /// How long the oldest event has waited.
    package var oldestSeconds = 0.0
    package var services: [Service] = []
    package var endToEnd: [Bucket] = []

    package var isReady: Bool { reasons.isEmpty }

    /// Whether nothing keeps it from delivering at least what lies in other partitions.
    package var delivers: Bool { reasons.allSatisfy { Self.partial.contains(FindingKey(rawValue: $0.key)) } }

    private static let partial: [FindingKey?] = [.recordsLost, .offsetsMissing, .partitionsWithoutLeader]

    /// Whether it is on its way into the group, and nothing else is known to keep it from delivering.
    var isJoining: Bool {
        !group.member && !isReady && reasons.allSatisfy { Self.joining.contains(FindingKey(rawValue: $0.key)) }
    }

    private static let joining: [FindingKey?] = [.starting, .unassigned]

    // MARK: Bounds

    /// So many findings of a kind are taken at most.
    private static let findingLimit = 16
    /// So much of a text is taken at most.
    private static let textLimit = 1_000
    /// A word is no longer, and there are no more of them: settings may name 64 push services.
    private static let wordLimit = 65

    /// The same with no more than a worker would say, safe to show: another program may have answered in its place.
    var bounded: Self {
        var bounded = self
        bounded.reasons = reasons.prefix(Self.findingLimit).map(Self.bounded)
        bounded.warnings = warnings.prefix(Self.findingLimit).map(Self.bounded)
        bounded.group.name = Self.text(group.name)
        bounded.outages = Self.words(outages)
        bounded.version = Self.word(version)
        bounded.services = services.prefix(Self.wordLimit).map { service in
            Service(
                pns: Self.word(service.pns), notifications: Self.counts(service.notifications),
                calls: service.calls.map(Self.counts), callsPerSecond: service.callsPerSecond.map { max(0, $0) })
        }
        bounded.endToEnd = Array(endToEnd.prefix(Self.wordLimit))
        return bounded
    }

    private static func bounded(_ finding: Finding) -> Finding {
        Finding(
            key: word(finding.key), finding.severity, title: word(finding.title), text(finding.what),
            place: finding.place.prefix(wordLimit).map(text), since: finding.since, step: text(finding.step),
            command: words(finding.command), section: word(finding.section),
            numbers: Dictionary(finding.numbers.prefix(wordLimit).map { (word($0.key), $0.value) }) { $1 })
    }

    private static func counts(_ counts: [String: Double]) -> [String: Double] {
        Dictionary(counts.prefix(wordLimit).map { (word($0.key), max(0, $0.value)) }) { $1 }
    }

    private static func words(_ words: [String]) -> [String] { words.prefix(wordLimit).map(word) }
    private static func word(_ text: String) -> String { SafeText.escaped(String(text.prefix(wordLimit))) }
    private static func text(_ text: String) -> String { SafeText.escaped(String(text.prefix(textLimit))) }
}
