import HeraldEvents
import HeraldTime

/// Times in which nothing is taken and nothing is called but one probe at a time.
extension Engine {
    mutating func beginHold(_ reason: HoldReason, status: Int = 0, source: UInt64 = 0, now: Moment) {
        guard case .assigned = membership else { return }
        if let current = hold {
            // Without a token there is nothing to probe with.
            guard reason == .tokenUnavailable, current.reason != reason else { return }
        }
        hold = Hold(reason: reason, status: status, source: source, classes: wanted.classes, now: now.monotonic)
        actions.append(.notice(.holdBegan(reason)))
    }

    /// - Parameter source: of the event that got through, if one did.
    mutating func endHold(source: UInt64? = nil, now: Moment) {
        guard let hold else { return }
        self.hold = nil
        breaker.reset()
        let isBadByItself = hold.reason == .fuse && source != nil && source != hold.source
        fuse.reset(excusing: isBadByItself ? hold.source : nil)
        actions.append(.notice(.holdEnded(hold.reason)))
        // Who waited for the backend's end of the hold was not held up by another event.
        events.restartActive(now: now.monotonic)
    }

    /// A hold ends when its probe is answered with any status that shows its cause to be gone; no answer at all proves
    /// nothing.
    mutating func judgeProbe(_ slot: Int32, _ meaning: Meaning, status: Int, now: Moment) {
        guard let reason = hold?.reason else { return }
        var isWell = false
        switch meaning {
        case .answered(.credentials): hold?.reason = .credentials
        case .unreachable(let reason): hold?.reason = reason
        case .failedForNow: break
        case .answered(.transient): isWell = reason != .breaker && reason != .fuse
        case .answered(.rejected): isWell = reason != .fuse || hold?.status != status
        case .answered(.delivered): isWell = true
        }
        if isWell {
            endHold(source: meaning == .answered(.delivered) ? sourceOfEvidence(slot) : nil, now: now)
        } else {
            let number = callClass(of: slot)
            hold?.probeFailed(ofClass: number, now: now.monotonic)
            if let hold, hold.reason != reason { actions.append(.notice(.holdBegan(hold.reason))) }
        }
    }

    /// Whether a call that ended so waits for the end of the hold, because it failed by the hold's cause, or was its probe.
    func waitsForHold(_ meaning: Meaning, status: Int, isProbe: Bool) -> Bool {
        guard let hold else { return false }
        switch meaning {
        case .answered(.delivered), .answered(.credentials): return false
        case .unreachable: return true
        case .failedForNow: return isProbe || hold.reason == .breaker
        case .answered(.transient): return hold.reason == .breaker || isProbe
        case .answered(.rejected): return hold.reason == .fuse && hold.status == status
        }
    }
}
