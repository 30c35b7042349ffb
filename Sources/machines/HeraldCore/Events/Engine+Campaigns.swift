public import HeraldEvents
import HeraldKernel
public import HeraldTime

/// Stopped campaigns: a cancelled one's events end, a paused one's wait in the retry topics.
extension Engine {
    /// The longest time until a suspended event returns to check its campaign.
    static let longestSuspension: Milliseconds = .minutes(5)
    /// The interval of that check in memory, without retry topics.
    static let suspensionInMemory: Milliseconds = .seconds(1)

    /// News of a campaign.
    ///
    /// Events that wait for a call end or are suspended at once. Calls under way continue; their outcomes are recorded
    /// as ever, except that a cancelled campaign has no retries.
    public mutating func campaign(_ name: String, is control: CampaignControl, now: Moment) {
        let hash = Campaigns.hash(name.utf8.span.bytes, seed: configuration.hashSeed)
        campaigns.set(name, hash: hash, control)
        guard control.state != .running else { return }
        stopEvents(of: hash, control.state, now: now)
        run(now: now)
    }

    /// Counts a rejection for the event's campaign, which may be held for it; false when the answer counts for all calls.
    ///
    /// A replay's answer does: its campaign may be finished, and then no operator could resume it.
    mutating func countsForCampaign(_ slot: Int32, _ service: Int, _ status: Int, now: Moment) -> Bool {
        let campaign = events[slot].campaign
        guard campaign != 0, events[slot].event.replays == 0,
            let rejection = campaigns.rejected(
                status: status, user: events[slot].userHash, of: campaign, rule: configuration.live.deadLetterBreaker,
                now: now)
        else { return false }
        counters.countRejectionOfCampaign(service: service)
        // Its wanted calls stop in their turn, or with the news of the pause.
        if case .holds(let action) = rejection { actions.append(action) }
        return true
    }

    private mutating func stopEvents(of hash: UInt64, _ state: CampaignControl.State, now: Moment) {
        guard case .assigned = membership else { return }
        for index in events.slots.indices where events.slots[index].campaign == hash {
            let slot = Int32(index)
            switch events.slots[index].phase {
            case .free, .settling, .refused: break
            case .behindUser: break  // Until it is first: the event in front of it may be of another campaign.
            case .waiting: if state == .cancelled { endWaiting(slot, now: now) }
            case .active: stopCalls(slot, now: now)
            }
        }
    }

    private mutating func endWaiting(_ slot: Int32, now: Moment) {
        events.endWait(slot)
        if events[slot].holdsSource { releaseSource(slot) }
        decideAll(slot, .cancelled, now: now)
    }

    private mutating func stopCalls(_ slot: Int32, now: Moment) {
        for service in events[slot].open {
            switch events.services[events.place(slot, service)].phase {
            case .wanted, .awaitingCredentials, .resting: _ = stopsForCampaign(slot, service, now: now)
            case .idle, .calling, .decided: break
            }
        }
    }

    /// Ends or suspends the next call when its campaign is stopped.
    ///
    /// False when it may be called.
    mutating func stopsForCampaign(_ slot: Int32, _ service: Int, now: Moment) -> Bool {
        switch campaigns.fate(of: events[slot].campaign) {
        case nil: return false
        case .cancelled: decide(slot, service, .cancelled, now: now)
        case .paused(let since): suspend(slot, service, since: since, .paused, now: now)
        }
        return true
    }

    /// Suspends an event for about as long as the cause has lasted, its campaign's pause, say: so an early end takes
    /// effect soon, and a pause of days does not circulate the event constantly.
    mutating func suspend(_ slot: Int32, _ service: Int, since: WallTime, _ reason: RetryReason, now: Moment) {
        guard let shortest = configuration.retry.delays.first else {
            events.rest(events.place(slot, service))
            schedule(.quickRetry(events.token(slot, service)), after: Self.suspensionInMemory, now: now)
            return
        }
        decide(slot, service, suspension(since: since, atLeast: shortest, reason, now: now), now: now)
    }

    /// A wait in a delay topic for about as long as its cause has lasted.
    func suspension(
        since: WallTime, atLeast shortest: Milliseconds, _ reason: RetryReason, now: Moment
    ) -> ServiceState.Verdict {
        let wait = max(shortest, min(now.wall.time(since: since), Self.longestSuspension))
        return .retry(
            delay: configuration.retry.hop(for: wait) ?? 0, due: now.wall.advanced(by: wait), reason: reason)
    }
}
