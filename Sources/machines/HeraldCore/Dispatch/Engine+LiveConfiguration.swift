import HeraldEvents
public import HeraldTime

/// Settings that change while the engine runs.
///
/// | changes | effect on the present state |
/// |---|---|
/// | limits per second | the latest call counts; learned limits stay |
/// | calls in flight | calls beyond a lower limit end normally before others begin; a higher one has room at once |
/// | statuses | they apply to later answers; decisions stay |
/// | breakers | the counts stay; an outage or a hold that the new settings would not begin ends |
extension Engine {
    /// Replaces the settings.
    ///
    /// Afterwards ``capacity`` may be larger; it never gets smaller.
    public mutating func use(_ live: LiveConfiguration, now: Moment) {
        let before = configuration.live
        guard live != before else { return }
        configuration.live = live
        dispatcher.use(live)
        calls.use(ceiling: live.maxInFlight)
        health.use(live)
        committer.use(configuration)
        if configuration.maxBuffered > capacity {
            events.grow(capacity: configuration.maxBuffered)
            productions.grow(slots: configuration.maxBuffered)
        }
        if health.isUnfounded(by: live) { endOutage(now: now) }
        endHolds(where: { $0.reason.isUnfounded(by: live, status: $0.status) }, now: now)
        if live.statuses != before.statuses {
            // Later answers are judged by the new settings: the probe's, and those of calls that were refused twice.
            health.outage?.probeSoon(now: now.monotonic)
            probeHoldsSoon(where: { _ in true }, now: now)
            callSuspectsAgain(now: now)
        }
        probe(now: now)
        run(now: now)
    }

    /// The most events in memory: the slots are numbered from 0 up to this.
    public var capacity: Int { events.capacity }
}
