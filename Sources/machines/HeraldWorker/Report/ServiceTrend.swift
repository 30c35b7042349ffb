import HeraldCore
import HeraldEvents
import HeraldTime

/// A push service of which every call fails for now.
public struct FailingService: Sendable, Equatable {
    /// Its name.
    public var name: String
    /// How many of its calls failed within the time that is looked at.
    public var calls: Int

    /// A push service, and how many calls failed.
    public init(name: String, calls: Int) {
        self.name = name
        self.calls = calls
    }
}

/// How each push service's calls ended over the last minute: pure.
struct ServiceTrend {
    /// How far it looks back (milliseconds).
    static let window: Milliseconds = .minutes(1)
    /// So many that all failed say something.
    static let leastCalls = 10

    /// What failed and what was answered otherwise, of each push service, since the beginning.
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
