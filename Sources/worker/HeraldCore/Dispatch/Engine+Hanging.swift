import HeraldEvents
import HeraldTime

/// A call under way, as it was when it began.
struct StartedCall: BitwiseCopyable, Sendable {
    var token: CallToken
    var sequence: UInt64
    var at: MonotonicTime
    /// So many calls will have been answered, or found to hang, when this one has been overtaken.
    var overtakenAt: UInt64
}

/// Calls that hang while the backend answers others.
///
/// They are no sign that the backend has enough to do: the limit that was found for calls in flight is one for calls that
/// it works on. Without this, as many hanging users as that limit allows would hold up everybody. A backend that is slow for
/// all answers more or less in order, so nobody is overtaken there; one that answers nobody overtakes nobody.
extension Engine {
    /// No call hangs before it has taken so long (milliseconds).
    static let hangsAfter: Int64 = 1_000
    /// So many calls that began later must have been answered.
    static let overtakers = 16

    /// How many calls the backend works on.
    var busyCalls: Int { callsInFlight - hangingCalls }

    /// Whether another call may begin.
    var hasRoomForCall: Bool { busyCalls < concurrency.limit && callsInFlight < configuration.maxInFlight }

    /// Notes a call that begins, in the order of beginnings.
    ///
    /// Those under way may be answered first without overtaking it, as far as they are not found to hang.
    mutating func noteStart(of token: CallToken, now: MonotonicTime) {
        let overtakenAt = callsPassed + UInt64(busyCalls + Self.overtakers)
        startedCalls.append(StartedCall(token: token, sequence: sequence, at: now, overtakenAt: overtakenAt))
        noteHangingCalls(now: now)
    }

    /// A call ended.
    mutating func noteEnd(isHanging: Bool, isAnswered: Bool) {
        if isHanging {
            hangingCalls -= 1
        } else if isAnswered {
            callsPassed += 1
        }
    }

    /// Looks at the oldest calls, each until it has ended or hangs.
    mutating func noteHangingCalls(now: MonotonicTime) {
        let latest = now.advanced(byMilliseconds: -Self.hangsAfter)
        while let oldest = startedCalls.first {
            let index = events.place(oldest.token.slot.index, Int(oldest.token.service))
            let isUnderWay =
                events.isCurrent(oldest.token.slot) && events.services[index].phase == .calling
                && events.services[index].sequence == oldest.sequence
            if isUnderWay {
                guard oldest.at <= latest, callsPassed >= oldest.overtakenAt else { return }
                events.noteHanging(index)
                hangingCalls += 1
                callsPassed += 1
            }
            _ = startedCalls.popFirst()
        }
    }

    /// Calls are not under way any more.
    mutating func forgetHangingCalls() {
        startedCalls.removeAll()
        hangingCalls = 0
    }
}
