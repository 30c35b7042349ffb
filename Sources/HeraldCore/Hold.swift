import HeraldTime

/// A state in which nothing is taken and nothing is called but one probe at a time.
///
/// A broken password or certificate is no event's fault: what was taken waits, burns no attempt and becomes no retry and
/// no dead letter.
public struct Hold: Sendable, Equatable {
    /// The first probe comes after this long (milliseconds); the wait doubles with each that fails.
    public static let firstProbe: Int64 = 1_000
    /// No probe waits longer than this (milliseconds).
    public static let slowestProbe: Int64 = 30_000
    /// So many events of each topic are kept at hand during a hold, so that each probe can be a different one.
    static let probeCandidates = 16

    /// Why.
    public internal(set) var reason: HoldReason
    /// Fuse: the status that would have made too many dead letters; else 0.
    public internal(set) var status: Int
    var probeDelay = Self.firstProbe
    var nextProbe: MonotonicTime
    /// The probe that is under way.
    var probe: CallToken?

    init(reason: HoldReason, status: Int = 0, now: MonotonicTime) {
        self.reason = reason
        self.status = status
        nextProbe = now.advanced(byMilliseconds: Self.firstProbe)
    }

    /// Something changed for the better, perhaps: the next probe is due now, and the waits begin anew.
    mutating func probeSoon(now: MonotonicTime) {
        probeDelay = Self.firstProbe
        nextProbe = now
    }

    /// Notes that the probe failed too.
    mutating func probeFailed(now: MonotonicTime) {
        probe = nil
        probeDelay = min(probeDelay * 2, Self.slowestProbe)
        nextProbe = now.advanced(byMilliseconds: probeDelay)
    }
}
