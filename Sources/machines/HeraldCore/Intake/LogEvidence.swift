import HeraldTime

/// The evidence of a partition's taken records about its log.
///
/// A log that was cut off (an unclean election, a replaced disk, a restored broker) holds, up to its new end, records
/// that were taken, and each is at most as young as ``newest``. Younger ones were written since. So taking continues at
/// the first such record, in a log that was cut and in a recreated one, however it has grown. The evidence travels in a
/// commit's metadata (``CompletionMap``).
package struct LogEvidence: Sendable, Equatable {
    /// The newest time stamp of all taken records (milliseconds since the Unix epoch); −1 without any.
    package var newest: Int64 = -1
    /// The offset below which records were taken before anything was noted.
    package var begin: Int64

    /// Whether a record at a settled offset differs from the former one.
    func isContradicted(by timestamp: WallTime?, at offset: Int64) -> Bool {
        guard newest >= 0, offset >= begin, let timestamp else { return false }
        return Self.bounded(timestamp) > newest
    }

    /// Notes a taken record.
    @inline(__always)
    mutating func note(_ timestamp: WallTime?) {
        if let timestamp { newest = max(newest, Self.bounded(timestamp)) }
    }

    /// The end of the year 9999.
    private static let latest: Int64 = 253_402_300_799_999

    /// A publisher may set any time stamp, and one more than the newest has to be a number too.
    @inline(__always)
    private static func bounded(_ timestamp: WallTime) -> Int64 {
        min(timestamp.milliseconds, latest)
    }
}
