internal import HeraldTime

/// The schedule of fetching access tokens.
///
/// Knows no network, clock or chance: moments and random bits come in as arguments. However many refusals there are and
/// however long the endpoint is down, requests keep their distance.
struct TokenSchedule {
    /// The first wait after a failed request; each further one is twice as long, up to the last.
    static let failureWaits: ClosedRange<Milliseconds> = .seconds(1)...(.minutes(1))
    /// A `Retry-After` of the endpoint is honoured up to this.
    static let longestRetryAfter: Milliseconds = .minutes(5)
    /// Between two tokens that refusals ask for; twice as long each time while they go on.
    static let refusalDistances: ClosedRange<Milliseconds> = .seconds(10)...(.minutes(5))
    /// A token that does not say how long it lives is renewed after this.
    static let unknownLifetime: Milliseconds = .minutes(10)
    /// The longest lifetime that counts: longer ones are renewed as if they had it.
    static let longestLifetime: Milliseconds = .days(1)
    /// The shortest wait before a renewal ahead of the end.
    static let shortestWait: Milliseconds = .seconds(1)

    private(set) var nextRequest: MonotonicTime
    /// The end of the present token; `nil` without one, or when unknown.
    private(set) var expiresAt: MonotonicTime?

    private var fetchedAt: MonotonicTime?
    private var failures = 0
    private var isRefused = false
    private var distance = Self.refusalDistances.lowerBound

    init(now: MonotonicTime) {
        nextRequest = now
    }

    func isDue(_ now: MonotonicTime) -> Bool { now >= nextRequest }

    /// A token came.
    ///
    /// - Parameters:
    ///   - lifetimeSeconds: as the endpoint says.
    ///   - now: when the request was sent; the token may be as old as that.
    mutating func fetched(lifetimeSeconds: Int64?, now: MonotonicTime, entropy: UInt64) {
        if isRefused {
            let isOften = fetchedAt.map { now.time(since: $0) < 4 * distance } ?? false
            distance =
                isOften
                ? min(2 * distance, Self.refusalDistances.upperBound)
                : Self.refusalDistances.lowerBound
            isRefused = false
        }
        failures = 0
        fetchedAt = now
        let known = lifetimeSeconds.flatMap {
            $0 > 0 ? Milliseconds.seconds(min($0, Self.longestLifetime.wholeSeconds)) : nil
        }
        let lifetime = known ?? Self.unknownLifetime
        expiresAt = known.map { now.advanced(by: $0) }
        // After three quarters to seven eighths of it, so that many workers do not ask together.
        let wait = lifetime * 3 / 4 + .milliseconds(entropy % UInt64((lifetime / 8).count + 1))
        nextRequest = now.advanced(by: max(wait, Self.shortestWait))
    }

    mutating func failed(retryAfter: Milliseconds?, now: MonotonicTime, entropy: UInt64) {
        let longest = min(
            Self.failureWaits.lowerBound.doubled(times: min(failures, 10)), Self.failureWaits.upperBound)
        failures += 1
        let half = longest / 2
        let wait = half + .milliseconds(entropy % UInt64(half.count + 1))
        let asked = min(max(retryAfter ?? .zero, .zero), Self.longestRetryAfter)
        nextRequest = now.advanced(by: max(wait, asked))
    }

    /// The backend refused the token that is in use.
    ///
    /// - Returns: whether a request is due now; else one comes as early as it may.
    mutating func refused(_ now: MonotonicTime) -> Bool {
        // An endpoint that fails is asked again soon enough.
        guard failures == 0, let fetchedAt else { return isDue(now) }
        isRefused = true
        nextRequest = min(nextRequest, max(now, fetchedAt.advanced(by: distance)))
        return isDue(now)
    }

    /// The client's id or secret changed: a token is fetched at once, whatever came before.
    mutating func clientChanged(_ now: MonotonicTime) {
        failures = 0
        nextRequest = now
    }

    mutating func expired() {
        expiresAt = nil
    }
}
