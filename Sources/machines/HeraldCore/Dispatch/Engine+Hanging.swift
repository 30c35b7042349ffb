import HeraldEvents
import HeraldKernel
import HeraldTime

/// Calls that hang while others are answered hold few places, however many users they have.
extension Engine {
    /// Notes whether a call that ended had an answer.
    mutating func noteHanging(_ slot: Int32, _ result: borrowing CallResult, now: Moment) {
        if result.failure == .timeout {
            hangingUsers.hung(events[slot].userHash, after: result.duration, now: now.monotonic)
        } else if calls.hangInNumber {
            hangingUsers.answered(events[slot].userHash, now: now.monotonic)
        }
    }

    /// Whether a call is likely to hang: the event's earlier calls, or the user's latest one, had no answer.
    func mayHang(_ slot: Int32, _ index: Int, now: Moment) -> Bool {
        events.services[index].attempts > 0 && events.services[index].status == 0
            || hangingUsers.contains(events[slot].userHash, now: now.monotonic)
    }

    /// Defers a call that may hang when the limit of hanging calls is reached; false when it can be made.
    ///
    /// With order per partition no event may leave its place, and an outage's probe may be any event.
    mutating func postpones(_ slot: Int32, _ service: Int, now: Moment) -> Bool {
        guard !calls.hasRoomForSuspect, !health.isInOutage, configuration.ordering != .partition,
            let delay = hangingUsers.deferCall(room: calls.roomForSuspects, now: now.monotonic)
        else { return false }
        let due = now.wall.advanced(by: configuration.retry.delays[delay])
        decide(slot, service, .retry(delay: delay, due: due, reason: .blocked), now: now)
        return true
    }
}
