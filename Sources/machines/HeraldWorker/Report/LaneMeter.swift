public import HeraldCore
public import HeraldEvents
import HeraldKernel
public import HeraldTime

/// A lane's counts beside its engine's: calls on the wire, transactions, rebalances; in plain numbers of its own
/// thread.
public struct LaneMeter: Sendable {
    /// From a request's first byte to its answer's end, by push service.
    public internal(set) var callDurations: [DurationHistogram]
    /// From the opening of a transaction to the broker's answer to its commit.
    public internal(set) var transactionDurations = DurationHistogram.ofCalls
    /// Transactions that were aborted.
    public internal(set) var aborts = 0
    /// Commits of offsets that the broker took, in a transaction or not.
    public internal(set) var commits = 0
    /// When the latest of them was acknowledged.
    public internal(set) var lastCommitAt: MonotonicTime?
    /// Commits that failed; most are made again.
    public internal(set) var failedCommits = 0
    /// The number of times that the group assigned partitions to this lane.
    public internal(set) var assignments = 0
    /// The number of times that it revoked them.
    public internal(set) var revocations = 0
    /// The number of times that they were lost without notice, because the session had run out.
    public internal(set) var losses = 0
    /// Calls in a row that no answer came to; 0 when the latest was answered, or none was made.
    public internal(set) var unansweredCalls = 0
    /// When the latest of them began; `nil` when there are none.
    public internal(set) var unansweredSince: MonotonicTime?
    /// Their push services.
    public internal(set) var unansweredServices = PushServiceSet()
    /// By push service: the status of the latest answer, and when it came; 0 before any.
    public internal(set) var latestStatus: [(status: Int, at: MonotonicTime)]
    /// The reason why the latest of them had no answer.
    public internal(set) var lastFailure: CallFailure?
    /// The time at which the latest call ended; `nil` when none has.
    public internal(set) var lastCallAt: MonotonicTime?

    /// Offsets that were passed over, by their cause.
    public private(set) var passedOver: [PassedOver.Cause: Int] = [:]
    /// The latest of each partition, and when that was, the latest first.
    public private(set) var latestPassedOver: [(what: PassedOver, at: MonotonicTime)] = []
    /// Offsets whose records are gone, with outcomes and with none that is known.
    public private(set) var gone = (accepted: 0, unknown: 0)
    /// The number of partitions that are remembered.
    private static let passedOverLimit = 200

    private var transactionBegan: MonotonicTime?

    /// Nothing yet, with this many push services.
    public init(services: Int) {
        callDurations = Array(repeating: .ofCalls, count: max(1, services))
        latestStatus = Array(repeating: (0, .distantPast), count: max(1, services))
    }

    mutating func callEnded(_ result: CallResult, service: Int, nanoseconds: Int64, now: MonotonicTime) {
        if result.verdict == .oversized { return }
        lastCallAt = now
        if let failure = result.failure {
            unansweredCalls += 1
            unansweredSince = MonotonicTime(nanoseconds: now.nanoseconds - nanoseconds)
            unansweredServices.insert(service)
            lastFailure = failure
        } else {
            (unansweredCalls, unansweredSince, unansweredServices) = (0, nil, PushServiceSet())
            latestStatus[service] = (result.status, now)
            callDurations[service].observe(microseconds: nanoseconds / 1_000)
        }
    }

    mutating func transactionBegan(now: MonotonicTime) { transactionBegan = now }

    mutating func commitEnded(_ outcome: TransactionOutcome, now: MonotonicTime) {
        guard outcome == .acknowledged else {
            failedCommits += 1
            return
        }
        commits += 1
        lastCommitAt = now
        if let began = transactionBegan {
            transactionDurations.observe(microseconds: (now.nanoseconds - began.nanoseconds) / 1_000)
        }
        transactionBegan = nil
    }

    mutating func passed(_ passed: PassedOver, now: MonotonicTime) {
        passedOver[passed.cause, default: 0] += passed.count
        gone = (gone.accepted + passed.accepted, gone.unknown + passed.unknown)
        latestPassedOver.removeAll { ($0.what.topic, $0.what.partition) == (passed.topic, passed.partition) }
        latestPassedOver.insert((passed, now), at: 0)
        if latestPassedOver.count > Self.passedOverLimit { latestPassedOver.removeLast() }
    }

    mutating func transactionAborted() {
        aborts += 1
        transactionBegan = nil
    }
}
