import HeraldCore
import HeraldEvents
import HeraldTime

/// A push service whose calls all fail temporarily.
public struct FailingService: Sendable, Equatable {
    /// Its name.
    public var name: String
    /// The number of its failed calls within the time in view.
    public var calls: Int
}

/// The ends of each push service's calls over the last minute: pure.
struct ServiceTrend {
    /// The time in view (milliseconds).
    static let window: Milliseconds = .minutes(1)
    /// The number of calls whose failure, if all fail, is evidence.
    static let leastCalls = 10

    /// The failed and the other answered calls of each push service, since the beginning.
    private struct Sample {
        var at: MonotonicTime
        var ends: [(failed: Int, others: Int)]
    }

    private var samples: [Sample] = []

    /// - Parameter names: the push services, in the order of the counters.
    mutating func look(at lanes: [LaneReport], names: [String], now: MonotonicTime) -> [FailingService] {
        let sample = Sample(
            at: now,
            ends: names.indices.map { service in
                lanes.reduce((failed: 0, others: 0)) { sum, lane in
                    CallEnd.allCases.reduce(sum) { sum, end in
                        let count = lane.counters.calls(end, service: service)
                        return end.isFailure ? (sum.failed + count, sum.others) : (sum.failed, sum.others + count)
                    }
                }
            })
        samples.append(sample)
        // The newest that is older than the window stays: it is what the window's calls are counted from.
        while samples.count > 2, now.time(since: samples[1].at) >= Self.window {
            samples.removeFirst()
        }
        guard let first = samples.first else { return [] }
        return names.enumerated().compactMap { service, name in
            let failed = sample.ends[service].failed - first.ends[service].failed
            let others = sample.ends[service].others - first.ends[service].others
            return failed >= Self.leastCalls && others == 0 ? FailingService(name: name, calls: failed) : nil
        }
    }
}
