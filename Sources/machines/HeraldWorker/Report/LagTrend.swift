import HeraldKafka
import HeraldTime

/// How the lag of request topics grows over some rounds: pure.
///
/// Only what was read from the same places can be compared: a partition whose lag becomes known, an assignment and a
/// recreated topic begin anew. So does the time after an outage or a hold, or a commit that failed: what waits then
/// has its own cause, and is no growth once that is over.
struct LagTrend {
    /// What was seen over less time says nothing of a growth.
    static let least: Milliseconds = .seconds(30)

    private let rounds: Int
    private var samples: [(at: MonotonicTime, offsets: Int64)] = []
    private var partitions: Set<TopicPartition> = []
    private var readings: [Int] = []

    init(rounds: Int) {
        self.rounds = rounds
    }

    mutating func add(_ lanes: [LaneReport], _ cluster: ClusterReport, at moment: MonotonicTime) {
        var lags: [TopicPartition: Int64] = [:]
        // Retries wait for their time, and are no lag.
        for report in lanes.flatMap(\.partitions) where report.delay == nil {
            if let lag = cluster.lag(of: report) { lags[report.partition] = lag }
        }
        let (partitions, readings) = (Set(lags.keys), lanes.map(\.reading))
        let isHindered = lanes.contains { $0.outage != nil || !$0.holds.isEmpty || $0.commitTrouble != nil }
        if isHindered || (partitions, readings) != (self.partitions, self.readings) { samples = [] }
        (self.partitions, self.readings) = (partitions, readings)
        samples.append((moment, lags.values.reduce(0, +)))
        if samples.count > rounds { samples.removeFirst() }
    }

    /// Offsets each second, less than 0 when it shrinks; `nil` before enough was seen.
    var perSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.at.time(since: first.at) >= Self.least else {
            return nil
        }
        return Double(last.offsets - first.offsets) / last.at.time(since: first.at).inSeconds
    }
}
