package import HeraldTime

/// The newest calls to a push service, and when they say that it delivers nothing: the one rule of workers and console.
package enum NewestCalls {
    /// Calls that ended within so long count.
    package static let shortest: Milliseconds = .seconds(10)
    /// Older ones count up to this age, as long as fewer than ``least`` came later.
    package static let longest: Milliseconds = .minutes(1)
    /// Fewer calls say nothing about how many of them fail.
    package static let least = 20.0
    /// So many that all failed say that the push service delivers nothing; with rejected ones among them ``least``, because
    /// events may be wrong themselves.
    package static let leastFailed = 10.0

    /// Whether calls of this age count.
    ///
    /// - Parameter later: the number of those that came later.
    package static func include(age: Milliseconds, behind later: Double) -> Bool {
        age < shortest || age < longest && later < least
    }

    /// Whether nothing gets through, and that is not some rejected events' own fault.
    ///
    /// - Parameters:
    ///   - delivered: the number of delivered calls.
    ///   - rejected: that of rejected ones.
    ///   - undelivered: that of all calls that were made and delivered nothing.
    package static func isDead(delivered: Double, rejected: Double, undelivered: Double) -> Bool {
        delivered == 0 && undelivered >= (rejected > 0 ? least : leastFailed)
    }
}
