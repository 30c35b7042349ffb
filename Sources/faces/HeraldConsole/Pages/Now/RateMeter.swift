import HeraldEvents
import HeraldTime
import HeraldTools

/// How much counters grow each second, over all workers.
///
/// A counter that falls is of a process that was started again: what it shows now has come since. A worker's first numbers
/// are where the counting begins.
struct RateMeter: Sendable {
    /// A push service and how its notifications, or calls, ended.
    struct Series: Hashable, Sendable {
        var service: String
        var end: String
    }

    /// What grew, each second.
    struct Rates: Sendable, Equatable {
        var notifications: [Series: Double] = [:]
        var calls: [Series: Double] = [:]
        /// How many ended within so many seconds of their publication, by these bounds; not each second, but since the last.
        var endToEnd: [Double: Double] = [:]
    }

    /// So many series are told at most, of each kind: the largest.
    static let seriesLimit = 256

    private var last: [String: (at: MonotonicTime, status: WorkerStatus)] = [:]

    /// Takes what workers say now, by address.
    ///
    /// A worker that has not been asked again since the last time adds nothing; one that is not there any more is forgotten.
    mutating func add(_ readings: [String: (at: MonotonicTime, status: WorkerStatus)]) -> Rates {
        var rates = Rates()
        for (address, reading) in readings {
            guard let former = last[address] else { continue }
            let seconds = reading.at.time(since: former.at).inSeconds
            guard seconds > 0 else { continue }
            let isSame = Self.isSameProcess(reading.status, former.status)
            func grow<Key>(
                _ rates: inout [Key: Double], over seconds: Double, _ counts: (WorkerStatus) -> [Key: Double]
            ) {
                let before = isSame ? counts(former.status) : [:]
                for (key, value) in counts(reading.status) {
                    let growth = Self.growth(from: before[key] ?? 0, to: value)
                    if growth > 0 { rates[key, default: 0] += growth / seconds }
                }
            }
            // The ends of notifications are the contract's.
            grow(&rates.notifications, over: seconds) { status in
                Self.series(status) { $0.notifications.filter { Outcome(rawValue: $0.key) != nil } }
            }
            grow(&rates.calls, over: seconds) { status in Self.series(status) { $0.calls ?? [:] } }
            grow(&rates.endToEnd, over: 1) { status in
                Dictionary(status.endToEnd.map { ($0.withinSeconds ?? .infinity, $0.count) }) { $1 }
            }
        }
        last = readings
        return Rates(
            notifications: Self.largest(rates.notifications), calls: Self.largest(rates.calls),
            endToEnd: rates.endToEnd)
    }

    private static func series(
        _ status: WorkerStatus, _ counts: (WorkerStatus.Service) -> [String: Double]
    ) -> [Series: Double] {
        let all = status.services.flatMap { service in
            counts(service).map { (Series(service: service.pns, end: $0.key), $0.value) }
        }
        return Dictionary(all) { $0 + $1 }
    }

    private static func largest(_ rates: [Series: Double]) -> [Series: Double] {
        guard rates.count > seriesLimit else { return rates }
        return Dictionary(rates.sorted { $0.value > $1.value }.prefix(seriesLimit).map { ($0.key, $0.value) }) { $1 }
    }

    private static func isSameProcess(_ now: WorkerStatus, _ before: WorkerStatus) -> Bool {
        // Told in hundredths of a second, and by clocks that are adjusted.
        guard let start = now.startSeconds, let former = before.startSeconds else { return true }
        return abs(start - former) < 1
    }

    private static func growth(from before: Double, to now: Double) -> Double { now < before ? now : now - before }
}
