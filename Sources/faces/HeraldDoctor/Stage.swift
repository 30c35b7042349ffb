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
    case words = "preferences"
    case clocks = "clocks"
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
        case .publishers, .words: [.reading]
        case .clocks: [.group]
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

/// How one check came out.
package enum Verdict: String, Sendable, CaseIterable {
    case passed
    /// It works, and an operator should look at it.
    case warning
    case failed
    /// It could not be looked at, because of something else.
    case skipped

    package var mark: String {
        switch self {
        case .passed: "✓"
        case .warning: "!"
        case .failed: "✗"
        case .skipped: "-"
        }
    }
}

/// One thing that was looked at, and what to do about it.
package struct Check: Sendable, Equatable {
    /// What was looked at, such as `broker tls`.
    package var name: String
    /// Which one, such as a topic's name; empty when there is only one.
    package var subject: String
    package var verdict: Verdict
    /// What was seen, in one line; may hold text from outside as it came.
    package var detail: String
    /// What fixes it; `nil` when there is nothing to fix.
    package var fix: String?

    /// What a stage found; the name is the stage's.
    package init(_ stage: Stage, _ subject: String, _ verdict: Verdict, _ detail: String, fix: String? = nil) {
        self.init(stage.rawValue, subject, verdict, detail, fix: fix)
    }

    package init(_ name: String, _ subject: String = "", _ verdict: Verdict, _ detail: String, fix: String? = nil) {
        self.name = name
        self.subject = subject
        self.verdict = verdict
        self.detail = detail
        self.fix = fix
    }
}
