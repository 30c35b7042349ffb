/// Everything that is looked at, in this order.
///
/// A stage begins when all that it needs has passed, if only in part; else it is skipped, and the reason said once.
package enum Stage: String, Sendable, CaseIterable {
    case brokerNames = "broker dns"
    case brokerPorts = "broker tcp"
    case brokerTLS = "broker tls"
    case brokerLogin = "broker login"
    case brokers = "broker advertised"
    case topics = "topic"
    case reading = "read"
    case group = "group"
    case transactionalID = "transactional id"
    case writing = "write"
    case transaction = "transaction"
    // What matters most to a worker comes first: all stages share the time.
    case publishers = "publishers"
    case backendName = "backend dns"
    case backendPort = "backend tcp"
    case backendTLS = "backend tls"
    case backendAnswer = "backend answer"
    case backendLogin = "backend credentials"
    case clock = "clock"

    package var needs: [Stage] {
        switch self {
        case .brokerNames, .backendName: []
        case .brokerPorts: [.brokerNames]
        case .brokerTLS: [.brokerPorts]
        case .brokerLogin: [.brokerTLS]
        case .brokers, .topics, .transactionalID: [.brokerLogin]
        case .reading, .group: [.topics]
        case .writing: [.topics, .transactionalID]
        case .transaction: [.writing]
        case .publishers: [.reading]
        case .backendPort: [.backendName]
        case .backendTLS: [.backendPort]
        case .backendAnswer: [.backendTLS]
        case .backendLogin, .clock: [.backendAnswer]
        }
    }

    /// Whether it belongs to the backend's half; the two halves run side by side.
    package var isBackend: Bool {
        [.backendName, .backendPort, .backendTLS, .backendAnswer, .backendLogin, .clock].contains(self)
    }
}

package struct StageReport: Sendable, Equatable {
    /// One entry for each thing that was looked at; none when there was nothing to look at.
    package var checks: [Check]
    /// Whether what needs this stage cannot be looked at.
    package var isDeadEnd: Bool

    /// What was found.
    ///
    /// - Parameter isDeadEnd: `nil`: when all of it failed.
    package init(_ checks: [Check], isDeadEnd: Bool? = nil) {
        self.checks = checks
        self.isDeadEnd = isDeadEnd ?? (!checks.isEmpty && checks.allSatisfy { $0.verdict == .failed })
    }

    /// What it found of the one thing that it looked at.
    init(_ stage: Stage, _ subject: String, _ verdict: Verdict, _ detail: String, fix: String? = nil) {
        self.init([Check(stage, subject, verdict, detail, fix: fix)])
    }
}
