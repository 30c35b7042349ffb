import HeraldTime

/// Workers that vanished: killed, frozen, or cut off.
///
/// Pure, fed with each look.
///
/// A worker that stops leaves its group at once. One that vanishes stays a member until its session is over, and does not
/// answer meanwhile: only that is told, so a rolling restart is none.
struct DepartedWorkers: Sendable {
    struct Departure: Sendable, Equatable {
        var address: String
        /// Since when it has not answered.
        var at: WallTime
        /// How many workers there were with it.
        var workers: Int
    }

    /// A member that is silent for longer is not on its way out.
    static let silence: Milliseconds = .seconds(5)
    /// So long a departure is told, unless somebody takes its place.
    static let memory: Milliseconds = .minutes(10)

    /// Since when workers that have answered before do not.
    private(set) var silentSince: [String: WallTime] = [:]
    private var answered: Set<String> = []
    private(set) var departures: [Departure] = []

    /// Takes what there is now.
    ///
    /// - Parameter workers: the group's members, as far as their admin ports are known.
    mutating func look(_ workers: [WorkerObservation], now: WallTime) {
        let present = Set(workers.map(\.address))
        let answering = Set(workers.filter { $0.status != nil }.map(\.address))
        for address in answered.subtracting(present) {
            if let since = silentSince[address], now.time(since: since) >= Self.silence {
                departures.append(Departure(address: address, at: since, workers: answered.count))
            }
            (silentSince[address], _) = (nil, answered.remove(address))
        }
        for address in answered.intersection(present).subtracting(answering) where silentSince[address] == nil {
            silentSince[address] = now
        }
        for address in answering { silentSince[address] = nil }
        answered.formUnion(answering)
        departures.removeAll { departure in
            now.time(since: departure.at) > Self.memory || answering.contains(departure.address)
                || answering.count >= departure.workers
        }
    }
}
