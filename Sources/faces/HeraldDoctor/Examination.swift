internal import HeraldThreads

/// One half of an examination: what its stages look at, and what they tell each other.
package protocol Examiner {
    /// Looks.
    ///
    /// Blocks, within the time that is left.
    mutating func examine(_ stage: Stage) -> StageReport
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

    /// Looks at all of these stages and reports each check as soon as it is its turn, with the stage that made it.
    ///
    /// Blocks.
    package func run(
        _ stages: [Stage] = Stage.allCases, _ report: (Stage, Check) throws -> Void
    ) rethrows {
        let backendChecks = Guarded<[(Stage, Check)]>([])
        var backend: OwnThread?
        if let makeBackend {
            backend = try? OwnThread(name: "doctor") {
                var examiner = makeBackend()
                Self.walk(stages.filter(\.isBackend), &examiner) { stage, check in
                    backendChecks.withLock { $0.append((stage, check)) }
                }
            }
            if backend == nil {
                let check = Check(
                    "backend", "", .failed, "no thread is left for it", fix: "raise the limit of threads")
                backendChecks.withLock { $0 = [(.backendName, check)] }
            }
        }
        if let makeBroker {
            var examiner = makeBroker()
            try Self.walk(stages.filter { !$0.isBackend }, &examiner, report)
        }
        backend?.join()
        for (stage, check) in backendChecks.withLock({ $0 }) { try report(stage, check) }
    }

    static func walk(
        _ stages: [Stage], _ examiner: inout any Examiner, _ report: (Stage, Check) throws -> Void
    ) rethrows {
        var stopped: [Stage: Stage] = [:]
        for stage in stages {
            if let cause = stage.needs.compactMap({ stopped[$0] }).first {
                stopped[stage] = cause
                try report(stage, Check(stage, "", .skipped, "because of \(cause.rawValue)"))
                continue
            }
            let finding = examiner.examine(stage)
            if finding.isDeadEnd { stopped[stage] = stage }
            for check in finding.checks { try report(stage, check) }
        }
    }
}
