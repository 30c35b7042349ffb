internal import HeraldTime

/// When the next access token is fetched.
///
/// Knows no network, clock or chance: moments and random bits come in as arguments. However many refusals there are and
/// however long the endpoint is down, requests keep their distance.
struct TokenSchedule {
    /// The first wait after a failed request; each further one is twice as long, up to the last.
    static let failureWaitsMilliseconds: ClosedRange<Int64> = 1_000...60_000
    /// A `Retry-After` of the endpoint is honoured up to this.
    static let longestRetryAfterMilliseconds: Int64 = 300_000
    /// Between two tokens that refusals ask for; twice as long each time while they go on.
    static let refusalDistancesMilliseconds: ClosedRange<Int64> = 10_000...300_000
    /// A token that does not say how long it lives is renewed after this.
    static let unknownLifetimeMilliseconds: Int64 = 600_000
    /// A token that says it lives longer is renewed as if it lived so long.
    static let longestLifetimeMilliseconds: Int64 = 86_400_000
    /// No token is renewed ahead of its end within so long.
    static let shortestWaitMilliseconds: Int64 = 1_000

    /// When the next request is due.
    private(set) var nextRequest: MonotonicTime
    /// When the present token ends; `nil` without one, or when that is unknown.
    private(set) var expiresAt: MonotonicTime?

    private var fetchedAt: MonotonicTime?
    private var failures = 0
    private var isRefused = false
    private var distanceMilliseconds = Self.refusalDistancesMilliseconds.lowerBound

    /// The first token is fetched at once.
    init(now: MonotonicTime) {
        nextRequest = now
    }

    /// Whether a request is due.
    func isDue(_ now: MonotonicTime) -> Bool { now >= nextRequest }

    /// A token came.
    ///
    /// - Parameters:
    ///   - lifetimeSeconds: as the endpoint says.
    ///   - now: when the request was sent; the token may be as old as that.
    mutating func fetched(lifetimeSeconds: Int64?, now: MonotonicTime, entropy: UInt64) {
        if isRefused {
            let isOften = fetchedAt.map { now.milliseconds(since: $0) < 4 * distanceMilliseconds } ?? false
            distanceMilliseconds =
                isOften
                ? min(2 * distanceMilliseconds, Self.refusalDistancesMilliseconds.upperBound)
                : Self.refusalDistancesMilliseconds.lowerBound
            isRefused = false
        }
        failures = 0
        fetchedAt = now
        let known = lifetimeSeconds.flatMap { $0 > 0 ? min($0, Self.longestLifetimeMilliseconds / 1_000) * 1_000 : nil }
        let lifetime = known ?? Self.unknownLifetimeMilliseconds
        expiresAt = known.map { now.advanced(byMilliseconds: $0) }
        // After three quarters to seven eighths of it, so that many workers do not ask together.
        let wait = lifetime * 3 / 4 + Int64(entropy % UInt64(lifetime / 8 + 1))
        nextRequest = now.advanced(byMilliseconds: max(wait, Self.shortestWaitMilliseconds))
    }

    /// No token came.
    mutating func failed(retryAfterMilliseconds: Int64?, now: MonotonicTime, entropy: UInt64) {
        let longest = min(
            Self.failureWaitsMilliseconds.lowerBound << Int64(min(failures, 10)),
            Self.failureWaitsMilliseconds.upperBound)
        failures += 1
        let wait = longest / 2 + Int64(entropy % UInt64(longest / 2 + 1))
        let asked = min(max(retryAfterMilliseconds ?? 0, 0), Self.longestRetryAfterMilliseconds)
        nextRequest = now.advanced(byMilliseconds: max(wait, asked))
    }

    /// The backend refused the token that is in use.
    ///
    /// - Returns: whether a request is due now; else one comes as early as it may.
    mutating func refused(_ now: MonotonicTime) -> Bool {
        // An endpoint that fails is asked again soon enough.
        guard failures == 0, let fetchedAt else { return isDue(now) }
        isRefused = true
        nextRequest = min(nextRequest, max(now, fetchedAt.advanced(byMilliseconds: distanceMilliseconds)))
        return isDue(now)
    }

    /// The client's id or secret changed: a token is fetched at once, whatever came before.
    mutating func clientChanged(_ now: MonotonicTime) {
        failures = 0
        nextRequest = now
    }

    /// The token has ended.
    mutating func expired() {
        expiresAt = nil
    }
}
