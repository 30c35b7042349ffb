internal import HeraldThreads

/// One half of an examination: what its stages look at, and what they tell each other.
package protocol Examiner {
    /// Looks.
    ///
    /// Blocks, within the time that is left.
    mutating func examine(_ stage: Stage) -> Finding
}

/// Goes through the stages, the brokers' half and the backend's side by side.
package struct Examination: Sendable {
    package enum Part: String, Sendable, CaseIterable {
        case kafka
        case backend
    }

    /// All of it ends within this time, even when a server does not answer.
    package static let limit = Duration.seconds(18)

    private let makeBroker: (@Sendable () -> any Examiner)?
    private let makeBackend: (@Sendable () -> any Examiner)?

    /// An examination by these two; `nil` leaves a half out.
    package init(broker: (@Sendable () -> any Examiner)?, backend: (@Sendable () -> any Examiner)?) {
        makeBroker = broker
        makeBackend = backend
    }

    /// Looks at everything and reports each check as soon as it is its turn.
    ///
    /// Blocks.
    package func run(_ report: (Check) throws -> Void) rethrows {
        let backendChecks = Guarded<[Check]>([])
        var backend: OwnThread?
        if let makeBackend {
            backend = try? OwnThread(name: "doctor") {
                var examiner = makeBackend()
                Self.walk(Stage.allCases.filter(\.isBackend), &examiner) { check in
                    backendChecks.withLock { $0.append(check) }
                }
            }
            if backend == nil {
                backendChecks.withLock {
                    $0 = [Check("backend", "", .failed, "no thread is left for it", fix: "raise the limit of threads")]
                }
            }
        }
        if let makeBroker {
            var examiner = makeBroker()
            try Self.walk(Stage.allCases.filter { !$0.isBackend }, &examiner, report)
        }
        backend?.join()
        for check in backendChecks.withLock({ $0 }) { try report(check) }
    }

    /// Goes through stages of one half in their order.
    static func walk(_ stages: [Stage], _ examiner: inout any Examiner, _ report: (Check) throws -> Void) rethrows {
        var stopped: [Stage: Stage] = [:]
        for stage in stages {
            if let cause = stage.needs.compactMap({ stopped[$0] }).first {
                stopped[stage] = cause
                try report(Check(stage, "", .skipped, "because of \(cause.rawValue)"))
                continue
            }
            let finding = examiner.examine(stage)
            if finding.isDeadEnd { stopped[stage] = stage }
            for check in finding.checks { try report(check) }
        }
    }
}
