/// A time zone: its offset from UTC at each moment, for all time.
public struct ZoneRules: Equatable, Sendable {
    /// The moments at which the offset changes, in seconds since the Unix epoch, rising.
    let changes: [Int64]
    /// The offsets in seconds east of UTC: the first one until the first change, then one from each change on.
    let offsets: [Int32]
    /// What holds from the last change on; without it the last offset does.
    let rest: YearlyZone?

    /// A zone that has one offset for ever.
    public init(offset: Int32) {
        self.init(changes: [], offsets: [offset], rest: nil)
    }

    init(changes: [Int64], offsets: [Int32], rest: YearlyZone?) {
        self.changes = changes
        self.offsets = offsets
        self.rest = rest
    }

    /// The offset at a moment, in seconds east of UTC.
    public func offset(at moment: WallTime) -> Int32 {
        offset(atSecond: RFC3339.floorDivide(moment.milliseconds, by: 1_000))
    }

    private func offset(atSecond second: Int64) -> Int32 {
        if let rest, changes.last.map({ second >= $0 }) ?? true { return rest.offset(at: second) }
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle] <= second { low = middle + 1 } else { high = middle }
        }
        return offsets[low]
    }

    /// The local date of a moment, in days from 1970-01-01 on.
    public func day(at moment: WallTime) -> Int64 {
        let second = RFC3339.floorDivide(moment.milliseconds, by: 1_000)
        return RFC3339.floorDivide(second + Int64(offset(atSecond: second)), by: 86_400)
    }

    /// The moment at which a clock of the zone shows this, which is counted as if the clock were UTC's.
    ///
    /// What comes twice, and what is left out, are read as by ``moment(day:minute:)``.
    public func moment(showing local: WallTime) -> WallTime {
        let minute = RFC3339.floorDivide(local.milliseconds, by: 60_000)
        let day = RFC3339.floorDivide(minute, by: 1_440)
        return moment(day: day, minute: Int(minute - day * 1_440))
            .advanced(by: .milliseconds(local.milliseconds - minute * 60_000))
    }

    /// The moment of a local date and time.
    ///
    /// One that comes twice is the first of both; one that is left out is as far behind the change as it would be behind
    /// the last moment before it: as RFC 5545 (section 3.3.5) reads them.
    ///
    /// - Parameters:
    ///   - day: The days from 1970-01-01 on.
    ///   - minute: The minutes from that day's beginning on, as its clock counts them.
    public func moment(day: Int64, minute: Int) -> WallTime {
        let local = day * 86_400 + Int64(minute) * 60
        // No offset is greater than 16 hours.
        let (before, after) = (offset(atSecond: local - 16 * 3_600), offset(atSecond: local + 16 * 3_600))
        let found = [max(before, after), min(before, after)].map { (local - Int64($0), $0) }
            .first { offset(atSecond: $0.0) == $0.1 }
        return WallTime(milliseconds: (found?.0 ?? local - Int64(before)) * 1_000)
    }
}
