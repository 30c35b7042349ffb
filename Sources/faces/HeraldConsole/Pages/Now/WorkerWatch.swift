import HeraldText
import HeraldThreads
import HeraldTime
import HeraldTools

/// Asks workers how they are, each once a second and on a thread of its own: one that hangs holds up no other.
final class WorkerWatch: Sendable {
    static let limit = 64
    /// A worker may take so long for each answer.
    private static let patience = Milliseconds.seconds(2)
    private static let pause = Duration.seconds(1)

    private let followed = Guarded<[String: Follower]>([:])

    /// Asks exactly these from now on, as `host:port`.
    func follow(_ addresses: [String]) {
        let wanted = Set(addresses.sorted().prefix(Self.limit))
        followed.withLock { followed in
            for (address, follower) in followed where !wanted.contains(address) {
                follower.stop()
                followed[address] = nil
            }
            for address in wanted where followed[address] == nil {
                // Without a thread it is tried again at the next call.
                followed[address] = try? Follower(address)
            }
        }
    }

    var observations: [WorkerObservation] {
        followed.withLock { $0.values.map(\.observation) }.sorted { $0.address < $1.address }
    }

    /// Asks no worker any more; what is under way ends by itself.
    func stop() { follow([]) }

    private final class Follower: Sendable {
        private let latest: Guarded<WorkerObservation>
        private let asking: RepeatedWork

        init(_ address: String) throws(SystemError) {
            let latest = Guarded(WorkerObservation(address: address, state: .unasked, at: SystemClock.monotonic()))
            self.latest = latest
            asking = try RepeatedWork(name: "console-worker", every: WorkerWatch.pause) {
                let state: WorkerObservation.State =
                    switch WorkerSurvey.status(at: address, timeout: WorkerWatch.patience) {
                    case .failure(let silence):
                        .silent(.init(reason: SafeText.escaped(silence.reason), isOlder: silence.isOlder))
                    case .success(let status): .answered(status)
                    }
                let observation = WorkerObservation(address: address, state: state, at: SystemClock.monotonic())
                latest.withLock { $0 = observation }
            }
        }

        var observation: WorkerObservation { latest.withLock { $0 } }

        func stop() { asking.end() }
    }
}

struct WorkerObservation: Sendable, Equatable {
    enum State: Sendable, Equatable {
        case unasked
        case answered(WorkerStatus)
        /// No server answers there, or it is no worker's answer.
        case silent(WorkerSurvey.Silence)
    }

    /// As `host:port`.
    var address: String
    var state: State
    var at: MonotonicTime

    var status: WorkerStatus? { if case .answered(let status) = state { status } else { nil } }
    var silence: WorkerSurvey.Silence? { if case .silent(let silence) = state { silence } else { nil } }

    var isReady: Bool { status?.isReady == true }
}
