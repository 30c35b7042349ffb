import HeraldTime

/// Finds the calls a second that a backend can bear, from its refusals to take more (429, 503).
///
/// One refusal concerns one event: APNs and FCM answer 429 for a single device. Refusals concern the push service only
/// when they are a real share of the calls (``RefusalSum``). Then the limit becomes a little less than the rate that
/// got through, and rests there; after that it grows, slowly at first and then faster, until refusals increase again:
/// the shape of TCP's CUBIC (RFC 9438), for a rate instead of a window. The rate that got through is known better than
/// any larger one, so it sets the limit, not a fraction of the former limit.
///
/// An event that was refused for its own sake is refused again, however low the rate: a retry is evidence only when
/// nothing else gets through (``speaks(isRetry:isKnown:_:)``). So is any call for a user who was refused before.
/// Compared with others, these users show whether refusals depend on the user or on the rate (``UserContrast``).
///
/// Each lower limit is on trial (``RateTrial``): refusals that do not become rarer were not about the rate, so the
/// former limit returns. Their share becomes the expected one.
struct AdaptiveRate: Sendable, Equatable {
    /// The state that a trial may restore.
    private(set) var state = State()
    /// Calls a second; `nil` when too few were refused to tell.
    var limit: Double? { state.limit }

    private var through = SecondCount()
    private var refused = SecondCount()
    private var activeSince = MonotonicTime.distantPast
    private var lastAnswer = MonotonicTime.distantPast
    /// The time at which a first call last got through.
    private var lastFirstPass = MonotonicTime.distantPast
    /// The time at which sending began, or resumed after a pause.
    private var resumedAt = MonotonicTime.distantPast
    private var grownAt = MonotonicTime.distantPast
    /// Whether calls waited because of the limit since its last growth, and whether one got through.
    private var wasReached = false
    private var hasPassed = false

    private var contrast = UserContrast()
    /// The end of the comparison of users that a refusal started.
    private var comparesUntil = MonotonicTime.distantPast
    /// Until then refusals are believed to depend on the user.
    private var dependsOnUserUntil = MonotonicTime.distantPast
    /// The time at which a call got through for a user who was not refused before.
    private var lastOtherPass = MonotonicTime.distantPast

    /// The share of calls refused at any rate.
    private(set) var expected = ExpectedRefusals(share: 0)
    private var expectedAt = MonotonicTime.distantPast
    /// Counts refusals: whether they are a real share of the calls, and more than expected at a limit.
    private var crowd = RefusalSum()
    private var edge = RefusalSum()
    /// The shortest pause requested by the refusals of ``crowd``; 0 when one of them requested none.
    private var shortestPause: Milliseconds = .zero
    /// The longest pause.
    ///
    /// The first pauses may have been requested for events that a backend refuses for their own sake. It doubles while
    /// a crowd of refusals follows each pause.
    private var longestPause = Self.firstPause
    private var trial: RateTrial?
    /// The calls since the limit was last lowered, and the refused ones among them.
    private var callsSince = 0
    private var refusalsSince = 0
    /// The number of consecutive refusals while the last decrease settled.
    private var refusedInRow = 0

    /// Notes a call that was answered and not refused; true when the limit changed.
    ///
    /// - Parameters:
    ///   - sentAt: when the call began.
    ///   - isRetry: whether the event has failed before; `isKnown`: whether the user's latest call was refused.
    mutating func passed(sentAt: MonotonicTime, isRetry: Bool, isKnown: Bool, now: MonotonicTime) -> Bool {
        answered(now)
        let hasChanged = now < comparesUntil && compare(isKnown: isKnown, refused: false, now)
        through.add(now)
        if !isRetry { lastFirstPass = now }
        if !isKnown { lastOtherPass = now }
        if sentAt < state.settledAt, sentAt >= state.loweredAt {
            refusedInRow = 0
            // No second has a rest that is refused.
            if state.search == .far { state.settledAt = state.loweredAt }
        }
        guard sentAt >= state.settledAt, speaks(isRetry: isRetry, isKnown: isKnown, now) else { return hasChanged }
        hasPassed = true
        if state.search == .far, wasReached, let limit = state.limit {
            state.limit = limit + (limit < Self.low ? Self.gain : Self.smallGain)
        }
        crowd.passed(allowing: expected.crowd)
        guard state.limit != nil else { return hasChanged }
        edge.passed(allowing: expected.edge)
        callsSince += 1
        return judge(refused: false, now) || hasChanged || state.search == .far
    }

    /// Notes a call that the backend refused because it can't take more.
    ///
    /// - Parameters:
    ///   - sentAt: when the call began.
    ///   - isRetry: whether the event has failed before; `isKnown`: whether the user's latest call was refused.
    ///   - retryAfter: the wait requested for the event, if any.
    /// - Returns: the pause of the push service.
    mutating func refusedCall(
        sentAt: MonotonicTime, isRetry: Bool, isKnown: Bool, retryAfter: Milliseconds?, now: MonotonicTime
    ) -> Milliseconds {
        answered(now)
        refused.add(now)
        comparesUntil = now.advanced(by: Self.rememberedTime)
        _ = compare(isKnown: isKnown, refused: true, now)
        guard sentAt >= state.settledAt else { return refusedWhileSettling(sentAt: sentAt, now) }
        guard speaks(isRetry: isRetry, isKnown: isKnown, now) else { return .zero }
        let asked = retryAfter ?? .zero
        shortestPause = crowd.isEmpty ? asked : min(shortestPause, asked)
        crowd.refused(allowing: expected.crowd, now)
        if state.limit != nil {
            edge.refused(allowing: expected.edge, now)
            callsSince += 1
            refusalsSince += 1
        }
        expectFewer(now)
        if judge(refused: true, now) { return .zero }
        if crowd.sum >= expected.crowdBound {
            // A limit on trial is not lowered again before the verdict, which a slow service would otherwise never
            // reach.
            if let trial, trial.isFair(at: state.limit), !hasGrown, crowd.calls < Int(Self.fewest) || !isShut {
                return .zero
            }
            // The successful calls show the rate in a moment.
            if crowd.isMixed(now), crowd.rate(now) == nil { return .zero }
            let isAgain = now < resumedAt.advanced(by: RateTrial.longest)
            longestPause = isAgain ? min(2 * longestPause, .hours(1)) : Self.firstPause
            // While a good part gets through, a lower rate is enough.
            let asksForQuiet = crowd.share > RateTrial.nothing
            lowerForCrowd(now)
            guard asksForQuiet else { return .zero }
            let quiet = min(shortestPause, longestPause)
            if quiet > .zero { resume(at: now.advanced(by: quiet)) }
            return quiet
        }
        // During a search a crowd finds the edge.
        guard trial == nil, state.search == .none, edge.sum >= expected.edgeBound else { return .zero }
        lowerAtEdge(now)
        return .zero
    }

    /// Whether an answer is evidence about the rate.
    private func speaks(isRetry: Bool, isKnown: Bool, _ now: MonotonicTime) -> Bool {
        let silence = now < dependsOnUserUntil ? Self.silenceOfUsers : Self.silenceOfRetries
        if isKnown, now <= lastOtherPass.advanced(by: silence) { return false }
        return !isRetry || now > lastFirstPass.advanced(by: Self.silenceOfRetries)
    }

    /// Compares previously refused users with others; true when the limit changed.
    private mutating func compare(isKnown: Bool, refused: Bool, _ now: MonotonicTime) -> Bool {
        contrast.count(isKnown: isKnown, refused: refused, now)
        if contrast.dependsOnUser {
            let isNew = now >= dependsOnUserUntil
            dependsOnUserUntil = now.advanced(by: Self.rememberedTime)
            guard isNew || trial != nil, state.limit != nil else { return false }
            expected = ExpectedRefusals(share: max(expected.share, min(contrast.shareOfOthers, 0.9)))
            expectedAt = now
            if let trial { state = trial.before } else { state.search = .far }
            trial = nil
            startCounting()
            return true
        }
        if contrast.dependsOnRate {
            dependsOnUserUntil = .distantPast
            if expected.share > 0, trial == nil { expected = ExpectedRefusals(share: 0) }
        }
        return false
    }

    /// Notes a refusal of a call sent before the last decrease, or while it settles.
    ///
    /// - Returns: the pause of the push service.
    private mutating func refusedWhileSettling(sentAt: MonotonicTime, _ now: MonotonicTime) -> Milliseconds {
        guard sentAt >= state.loweredAt else { return .zero }
        refusedInRow += 1
        guard refusedInRow == Self.silence, now < state.settledAt else { return .zero }
        // The successful calls filled a whole second's quota, however soon: a search above it is pointless.
        if state.borne >= Self.fewest { state.search = .none }
        return state.settledAt.time(since: now)
    }

    /// Notes a pause of this push service until `moment`: calls that get through meanwhile are no evidence.
    private mutating func resume(at moment: MonotonicTime) {
        resumedAt = max(resumedAt, moment)
        state.settledAt = max(state.settledAt, moment)
        trial?.wait(until: moment)
    }

    /// Notes a call that waited because of the limit.
    mutating func reached() { wasReached = true }

    /// Lets the limit grow when due; true when it changed.
    mutating func grow(now: MonotonicTime) -> Bool {
        guard let limit = state.limit else { return false }
        let quiet = Milliseconds.milliseconds((now.nanoseconds - state.loweredAt.nanoseconds) / 1_000_000)
        if quiet > Self.forgottenAfter {
            state = State()
            trial = nil
            return true
        }
        let elapsed = min(now.nanoseconds - grownAt.nanoseconds, 1_000_000_000)
        guard elapsed >= 50_000_000 else { return false }
        grownAt = now
        switch state.search {
        case .none: guard quiet > state.rest else { return false }
        case .near: guard hasPassed, now >= state.settledAt, trial?.holds(now) != true else { return false }
        case .far: return false
        }
        guard wasReached else { return false }
        wasReached = false
        hasPassed = false
        state.limit = limit * (1 + speed(at: limit) * Double(elapsed) / 1e9)
        return true
    }

    /// By which share the limit grows in a second: by hardly anything where refusals are expected, because a backend that
    /// allows bursts shows late that it was too much, and faster the farther that is behind.
    private func speed(at limit: Double) -> Double {
        if state.search == .near { return 1 }
        return min(max(0.01, (limit / state.borne - 1) / 4), 1)
    }

    private mutating func answered(_ now: MonotonicTime) {
        if now > lastAnswer.advanced(by: Self.idleTime) { activeSince = now }
        lastAnswer = now
    }

    /// Counts an answer for the trial; true when its verdict changed the limit.
    private mutating func judge(refused: Bool, _ now: MonotonicTime) -> Bool {
        trial?.count(refused: refused)
        guard let trial else { return false }
        if trial.isClearlyUnrelated(at: state.limit) { return withdraw(trial, now) }
        guard trial.isOver(now) else { return false }
        self.trial = nil
        guard trial.isUnrelated(at: state.limit) else {
            guard trial.isSecond, let limit = state.limit else { return false }
            // It was about the rate, and for the second trial the limit was lower than it has to be.
            state.limit = max(limit, Self.retreat * state.borne)
            return true
        }
        guard trial.isSecond || trial.isAfterMixed else {
            let most = RateTrial.second * (state.limit ?? 0)
            lower(to: through.latest(now), atMost: most, now)
            self.trial = RateTrial(again: trial, isSecond: true, begins: state.settledAt)
            return true
        }
        return withdraw(trial, now)
    }

    /// The refusals have nothing to do with the rate; true, for the limit changes.
    private mutating func withdraw(_ trial: RateTrial, _ now: MonotonicTime) -> Bool {
        self.trial = nil
        expected = ExpectedRefusals(share: trial.share)
        expectedAt = now
        state = trial.before
        startCounting()
        return true
    }

    /// Refusals have become much rarer than expected.
    private mutating func expectFewer(_ now: MonotonicTime) {
        // The last seconds have to be of the time since.
        guard expected.share > 0, now >= expectedAt.advanced(by: .seconds(3)),
            refusedShare(now) < expected.share / 2
        else { return }
        expected = ExpectedRefusals(share: expected.share * 0.95)
    }

    /// The share of refused calls among those of the last three seconds.
    private mutating func refusedShare(_ now: MonotonicTime) -> Double {
        let refusals = refused.average(now)
        return refusals / max(refusals + through.average(now), 1e-9)
    }

    /// Whether the limit is clearly more than what it was lowered to.
    private var hasGrown: Bool { state.limit.map { $0 > 1.05 * state.borne } ?? false }

    /// Whether next to nothing gets through, of so many calls that no verdict is needed.
    private var isShut: Bool {
        crowd.share > RateTrial.nothing && crowd.calls >= Int(Self.fewest)
            || refusedShareSince > RateTrial.nothing && callsSince >= Self.silence
    }

    /// The share of refused calls since the limit was lowered last.
    private var refusedShareSince: Double { Double(refusalsSince) / Double(max(callsSince, 1)) }

    private mutating func startCounting() {
        crowd = RefusalSum()
        edge = RefusalSum()
        callsSince = 0
        refusalsSince = 0
        refusedInRow = 0
    }

    /// A real share of the calls is refused.
    private mutating func lowerForCrowd(_ now: MonotonicTime) {
        let (before, hasGrownBefore, wasShut) = (state, hasGrown, isShut)
        let share = crowd.share
        let isEarly = now < activeSince.advanced(by: .seconds(1))
        // Others' calls may come in bursts, and their answers be held.
        let offered = refused.latest(now) + through.most(now)
        let mixedRate = crowd.isMixed(now) ? crowd.rate(now) : nil
        if let mixedRate { lower(toMixed: mixedRate, now) } else { lower(isEarly: isEarly, now) }
        let elapsed = isEarly ? max(0.05, now.time(since: activeSince).inSeconds) : 1
        let begins = max(state.settledAt, resumedAt)
        if wasShut {
            // What it bears when it takes calls again is not known, and no verdict is needed until then.
            state.search = .far
            trial = nil
        } else if let trial, !trial.isFair(at: before.limit) || hasGrownBefore {
            // The limit was not low enough yet to say anything, or has grown meanwhile.
            self.trial = RateTrial(again: trial, isSecond: false, begins: begins)
            if mixedRate != nil { self.trial?.begin(afterMixed: share) }
        } else {
            trial = RateTrial(
                before: before, refusedShare: share, expected: expected.share, offered: offered / elapsed,
                begins: begins)
            if mixedRate != nil { self.trial?.begin(afterMixed: share) }
        }
    }

    /// There are a few more refusals than expected at this limit.
    private mutating func lowerAtEdge(_ now: MonotonicTime) {
        let before = state
        let share = refusedShare(now)
        let shareSince = refusedShareSince
        lower(isEarly: false, now)
        // When there were hardly any before the limit grew, it is the limit.
        guard shareSince - expected.share > (share - expected.share) / 4, let limit = state.limit else { return }
        state.limit = max(Self.floor, RateTrial.second * limit)
        trial = RateTrial(before: before, refusedShare: share, expected: expected.share, begins: state.settledAt)
    }

    /// Calls were refused among others that got through, as many a second: what is left of the second is not refused.
    private mutating func lower(toMixed rate: Double, _ now: MonotonicTime) {
        let isKnown = state.search == .near || state.search == .none && state.limit.map { rate > 0.5 * $0 } ?? false
        lower(to: rate, atMost: state.limit.map { Self.retreat * $0 } ?? .infinity, now)
        state.search = isKnown ? .none : .near
        state.settledAt = max(resumedAt, now.advanced(by: Self.mixedSettling))
    }

    private mutating func lower(isEarly: Bool, _ now: MonotonicTime) {
        if let limit = state.limit, state.search != .far, now < resumedAt.advanced(by: .seconds(3)) {
            // The last seconds were in part a pause, in which a backend that allows bursts has saved up for one.
            let isWholeSecond = now >= resumedAt.advanced(by: .seconds(1)) && crowd.share > RateTrial.nothing
            let second = isWholeSecond ? min(through.latest(now), 0.75 * limit) : 0
            state.borne = max(through.average(now), keptAfterPause * limit, second, Self.floor)
            state.limit = max(Self.floor, Self.retreat * state.borne)
            state.rest = Self.firstRest
            state.search = .none
            lowered(now)
            return
        }
        // While the limit grew, the last second says too little, and its last part more.
        let most = state.limit == nil ? through.most(now) : max(through.most(now), through.recent(now))
        let latest = through.latest(now)
        let refusals = refused.latest(now)
        let isFlood = state.limit != nil && refusals > (Self.flood + expected.share) * (refusals + latest)
        let less = state.limit.map { Self.retreat * $0 } ?? .infinity
        // Nothing gets through any more: what did in the last second was all that it bears.
        let isEnd = state.limit != nil && crowd.share > RateTrial.nothing
        lower(to: isFlood || isEnd || state.search != .none ? latest : most, atMost: less, isEarly: isEarly, now)
    }

    /// The share of the limit that is left when a crowd is refused soon after a pause.
    private var keptAfterPause: Double {
        // Even what the backend has saved up is next to nothing.
        if refusedShareSince > RateTrial.nothing { return 0.1 }
        // The limit has doubled, perhaps far beyond what the backend bears.
        if state.search != .none { return 1 - crowd.share }
        return crowd.share > RateTrial.nothing ? 0.5 : 0.9
    }

    /// - Parameter rate: what got through (calls a second).
    private mutating func lower(
        to rate: Double, atMost most: Double = .infinity, isEarly: Bool = false, _ now: MonotonicTime
    ) {
        let isFirst = state.limit == nil
        // What is refused whatever the rate is borne as well.
        let rate = rate / (1 - expected.share)
        state.rest =
            abs(rate - state.borne) < 0.1 * state.borne
            ? min(state.rest * 2, Self.longestRest) : Self.firstRest
        // A few calls say hardly anything about the rate, and refusals of all of them nothing.
        state.search =
            if isFirst && (isEarly || rate < Self.fewest) { .far } else if rate < 0.01 * refused.latest(now) {
                .near
            } else { .none }
        state.borne = max(rate, isFirst && state.search == .far ? Self.start : Self.floor)
        state.limit = max(min(Self.retreat * state.borne, most), Self.floor)
        lowered(now)
    }

    private mutating func lowered(_ now: MonotonicTime) {
        state.loweredAt = now
        state.settledAt = now.advanced(by: Self.settlingTime)
        grownAt = now
        wasReached = false
        startCounting()
    }
}
