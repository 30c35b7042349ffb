import HeraldEvents
public import HeraldTime

/// Settings that change while the engine works.
///
/// | changes | what it does to what is there |
/// |---|---|
/// | limits per second | the latest call counts; what the backend was found to bear stays |
/// | calls in flight | those beyond a lower limit end as they do, and none begins before; a higher one has room at once |
/// | statuses | answers that come from now on; what is decided stays decided |
/// | breakers | what was counted stays; an outage that the new settings would not begin ends |
extension Engine {
    /// Other settings from now on.
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
        if live.statuses != before.statuses {
            // Later answers are judged by the new settings: the probe's, and those of calls that were refused twice.
            health.probeSoon(now: now.monotonic)
            callSuspectsAgain(now: now)
        }
        probe(now: now)
        run(now: now)
    }

    /// How many events there may be in memory: the slots are numbered from 0 up to here.
    public var capacity: Int { events.capacity }
}
