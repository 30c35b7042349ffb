import HeraldKafka

/// Reads partitions as a reader of committed records does: in turns, to an end that it finds when brokers answer.
struct LogReader {
    private let places: [Place]
    /// The next offset of each partition.
    private(set) var positions: [Int64]
    /// The wanted end, until it is found.
    private var aim: TopicReader.End?
    private var ends: [Int64] = []

    init(_ places: [Place], from start: (Place) -> Int64 = { _ in 0 }) {
        self.places = places
        positions = places.map(start)
    }

    /// Reads to this end from now on.
    mutating func aim(at end: TopicReader.End) { aim = end }

    /// Reads the present records; returns whether the end is reached.
    mutating func turn(_ simulation: Simulation, _ body: (RecordName, LogRecord) -> Void) -> Bool {
        if let aim, let found = simulation.ends(of: places, aim) { (self.aim, ends) = (nil, found) }
        for index in places.indices {
            while let name = simulation.nextRecord(places[index], from: &positions[index]) {
                if let record = simulation.cluster.record(name) { body(name, record) }
            }
        }
        return aim == nil && zip(positions, ends).allSatisfy { $0 >= $1 }
    }
}

extension Simulation {
    /// Whether a broker answers for this partition.
    func isReachable(_ place: Place) -> Bool { cluster.awayUntil <= now && cluster[place].leaderlessUntil <= now }

    /// The ends of partitions; `nil` while no broker answers for one of them.
    func ends(of places: [Place], _ end: TopicReader.End) -> [Int64]? {
        guard places.allSatisfy(isReachable) else { return nil }
        return places.map { end == .written ? Int64(cluster[$0].records.count) : cluster[$0].lastStable }
    }
}
