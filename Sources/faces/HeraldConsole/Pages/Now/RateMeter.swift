import HeraldTime

/// How much counters grow each second, over all workers.
///
/// A counter that falls is of a process that was started again: what it shows now has come since. A worker's first numbers
/// are where the counting begins.
struct RateMeter: Sendable {
    /// What grew, each second.
    struct Rates: Sendable, Equatable {
        var notifications: [WorkerNumbers.Series: Double] = [:]
        var calls: [WorkerNumbers.Series: Double] = [:]
        /// How many ended within so many seconds of their publication, by these bounds; not each second, but since the last.
        var endToEnd: [Double: Double] = [:]
    }

    /// So many series are told at most, of each kind: the largest.
    static let seriesLimit = 256

    private struct Reading {
        var at: MonotonicTime
        var numbers: WorkerNumbers
    }

    private var last: [String: Reading] = [:]

    init() {}

    /// Takes the workers' newest numbers, by address.
    ///
    /// A worker whose numbers are those of the last time adds nothing; one that is not there any more is forgotten.
    mutating func add(_ readings: [String: (at: MonotonicTime, numbers: WorkerNumbers)]) -> Rates {
        var rates = Rates()
        for (address, reading) in readings {
            defer { last[address] = Reading(at: reading.at, numbers: reading.numbers) }
            guard let former = last[address] else { continue }
            let seconds = reading.at.time(since: former.at).inSeconds
            guard seconds > 0 else { continue }
            let isSame = Self.isSameProcess(reading.numbers, former.numbers)
            func grow<Key>(
                _ rates: inout [Key: Double], _ now: [Key: Double], _ before: [Key: Double], over seconds: Double
            ) {
                for (key, value) in now {
                    let growth = Self.growth(from: isSame ? before[key] ?? 0 : 0, to: value)
                    if growth > 0 { rates[key, default: 0] += growth / seconds }
                }
            }
            let (now, before) = (reading.numbers, former.numbers)
            grow(&rates.notifications, now.notifications, before.notifications, over: seconds)
            grow(&rates.calls, now.calls, before.calls, over: seconds)
            grow(&rates.endToEnd, now.endToEnd, before.endToEnd, over: 1)
        }
        last = last.filter { readings[$0.key] != nil }
        return Rates(
            notifications: Self.largest(rates.notifications), calls: Self.largest(rates.calls),
            endToEnd: rates.endToEnd)
    }

    private static func largest(_ rates: [WorkerNumbers.Series: Double]) -> [WorkerNumbers.Series: Double] {
        guard rates.count > seriesLimit else { return rates }
        return Dictionary(rates.sorted { $0.value > $1.value }.prefix(seriesLimit).map { ($0.key, $0.value) }) { $1 }
    }

    private static func isSameProcess(_ now: WorkerNumbers, _ before: WorkerNumbers) -> Bool {
        // Told in hundredths of a second, and by clocks that are adjusted.
        guard let start = now.startSeconds, let former = before.startSeconds else { return true }
        return abs(start - former) < 1
    }

    private static func growth(from before: Double, to now: Double) -> Double { now < before ? now : now - before }
}
