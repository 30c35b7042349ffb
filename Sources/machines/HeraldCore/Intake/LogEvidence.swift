import HeraldTime

/// What the records that were taken of a partition say about its log.
///
/// A log that was cut off (an unclean election, a replaced disk, a restored broker) holds, up to its new end, records that
/// were taken, and none of them is younger than ``newest``. What is younger was written since. So the first such record is
/// where taking goes on, in a log that was cut and in one that was made anew, whatever grew meanwhile. It travels in a
/// commit's metadata (``CompletionMap``).
package struct LogEvidence: Sendable, Equatable {
    /// The newest time stamp of all that was taken (milliseconds since the Unix epoch); −1 when nothing had one.
    package var newest: Int64 = -1
    /// What lies below was taken before anything was noted.
    package var begin: Int64

    package init(newest: Int64 = -1, begin: Int64) {
        self.newest = newest
        self.begin = begin
    }

    /// Whether a record at an offset that was dealt with is another one than was there.
    func isContradicted(by timestamp: WallTime?, at offset: Int64) -> Bool {
        guard newest >= 0, offset >= begin, let timestamp else { return false }
        return Self.bounded(timestamp) > newest
    }

    /// The record was taken.
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
