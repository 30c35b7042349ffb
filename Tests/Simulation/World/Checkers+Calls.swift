import HeraldCore
import HeraldEvents

/// Calls: promises 3 and 4, and no retry too soon.
extension Checkers {
    /// Calls of this duty were under way, or answered and not yet durable, when their worker died, lost them or ran into
    /// a deadline.
    mutating func faultHit(_ duty: Int) {
        // In transactions what was called and not recorded may be called again, and nothing else. At least once, a
        // record that was written may have been read by somebody else too.
        duties[duty].allowance += isAtomic ? duties[duty].callsOfStay : maximumCalls
        duties[duty].callsOfStay = 0
        duties[duty].isExcused = true
        duties[duty].isAnswered = false
        duties[duty].notBefore = nil
    }

    /// A call begins.
    ///
    /// - Parameters:
    ///   - countsAsAttempt: A probe counts when it ends an outage, others unless credentials were refused.
    ///   - hasLost: Its worker has lost the partition and could not know yet.
    mutating func called(_ duty: Int, countsAsAttempt: Bool, hasLost: Bool, now: Int64) {
        if duties[duty].firstCalledAt == nil { duties[duty].firstCalledAt = now }
        if hasLost {
            duties[duty].isExcused = true
            if countsAsAttempt {
                duties[duty].calls += 1
                duties[duty].allowance += 1
            }
            return
        }
        if let moment = duties[duty].notBefore, now < moment - tolerance {
            fail("a retry of \(text(duty)) was \(moment - now) ms early")
        }
        duties[duty].notBefore = nil
        if !duties[duty].finals.isEmpty { excuse(duty, "\(text(duty)) was called after its final result") }
        if duties[duty].isAnswered { excuse(duty, "promise 3: \(text(duty)) was called again after its final answer") }
        if !isKnowledgeLost, !duties[duty].mayRepeat,
            others(than: duty).contains(where: { duties[$0].finals.contains(.delivered) })
        {
            fail("\(text(duty)) was called, and the same event was delivered")
        }
        guard countsAsAttempt else { return }
        count(duty)
        let allowed = maximumCalls + duties[duty].allowance
        if duties[duty].calls > allowed {
            fail("promise 3: \(text(duty)) was called \(duties[duty].calls) times, \(allowed) are allowed")
        }
    }

    /// An event is called that was taken from its request topic by a worker who knows all that lies before `offset` to be
    /// dealt with, but for what retention has deleted.
    ///
    /// - Parameter range: from the first record that is left to the one behind which the worker began.
    mutating func firstStay(_ duty: Int, of name: RecordName, known range: Range<Int64>) {
        // At least once, an event that was delivered may have another life, which comes to something else.
        guard isAtomic else { return }
        let wasDelivered = others(than: duty).contains {
            duties[$0].origin.place == name.place && range.contains(duties[$0].origin.offset)
                && duties[$0].origin.offset < name.offset
                && duties[$0].finals.contains(.delivered)
        }
        if wasDelivered { fail("\(text(duty)) was called, and the same event was delivered before its worker came") }
    }

    private mutating func count(_ duty: Int) {
        duties[duty].calls += 1
        duties[duty].callsOfStay += 1
    }

    /// The backend's side of a call, whether or not anybody hears of it.
    ///
    /// - Parameter holds: it says that nobody can be called.
    mutating func backendAnswered(_ duty: Int, _ result: CallResult, holds: Bool, now: Int64) {
        let status = result.status
        let isRefused = status == 401 || status == 403 && result.verdict != .throttled && !holds
        if status == 200 { duties[duty].wasDelivered = true }
        if isRefused { duties[duty].firstRefusal = duties[duty].firstRefusal ?? now }
        if !isRefused, !holds, status != 0 { lastAcceptance = now }
    }

    /// It may have reached the backend, and nobody answered.
    mutating func wasUnanswered(_ duty: Int) { duties[duty].wasUnanswered = true }

    /// The backend rejected it, by the settings of the worker that heard of it.
    mutating func wasRejected(_ duty: Int) { duties[duty].wasRejected = true }

    /// A worker has heard that its credentials were refused: those that it has, or others that it called with before.
    mutating func heardRefusal(_ duty: Int, ofFormerCredentials isFormer: Bool) {
        if duties[duty].hasHeardRefusal, !isFormer { duties[duty].wasRefusedAgain = true }
        duties[duty].hasHeardRefusal = true
    }

    /// A worker has heard an answer that counts as an attempt.
    mutating func heard(_ duty: Int) { duties[duty].heard += 1 }

    /// A worker has heard an answer that needs no other call.
    mutating func answeredForGood(_ duty: Int) { duties[duty].isAnswered = true }

    /// A probe that ended an outage counts as the call that it was.
    mutating func probeCounted(_ duty: Int) { count(duty) }

    /// A call failed by the cause of an outage: it counts for nothing.
    mutating func waits(_ duty: Int, as before: Duty, wasCounted: Bool) {
        duties[duty] = before
        guard wasCounted else { return }
        duties[duty].calls -= 1
        duties[duty].callsOfStay -= 1
    }

    /// A call failed for now: when its worker has heard of it, the next one has to wait.
    ///
    /// After a fault nobody knows how many calls a worker has counted.
    mutating func failedForNow(_ duty: Int, retryAfter: Int64?, expiresAt: Int64?, now: Int64) {
        guard !duties[duty].isExcused else { return }
        var wait: Int64 = retryAfter ?? 0
        let index = duties[duty].calls - 1 - immediate
        if index >= 0, index < delays.count {
            // By the clock of its worker less time may be left.
            let left = expiresAt.map { $0 - now - tolerance } ?? .max
            let calls = Int64(maximumCalls - duties[duty].calls)
            wait = max(wait, delays[index] < left ? delays[index] : max(delays[0], left / (calls + 1)))
        }
        duties[duty].notBefore = now + wait
    }

    /// A worker was told to wait for so long.
    mutating func toldToWait(_ duty: Int, _ milliseconds: Int64) {
        duties[duty].longestRetryAfter = max(duties[duty].longestRetryAfter, milliseconds)
    }

    /// An event may expire before its moment only when not even the shortest wait ends before it, by its worker's clock.
    mutating func expired(_ duty: Int, at moment: Int64, expiresAt: Int64?) {
        guard let expiresAt else {
            fail("\(text(duty)) is said to be expired, and never does")
            return
        }
        let wait = max(delays[0], duties[duty].longestRetryAfter)
        if moment + wait < expiresAt {
            fail("\(text(duty)) is said to be expired \(expiresAt - moment) ms early, and a retry waits \(wait) ms")
        }
    }

    // MARK: Promise 4: order

    /// An event left its request topic for a retry topic: from here on it may be overtaken.
    mutating func movedToRetry(_ name: RecordName) { called.insert(name) }

    /// A worker died, or lost it, and another event of its line has been called already.
    ///
    /// It was on its way to a retry topic, perhaps: nobody can say that it was not.
    mutating func wasPassed(user: Int, _ name: RecordName) {
        if lastFirstCall[line(user: user, name)] ?? -1 > name.offset { called.insert(name) }
    }

    private func line(user: Int, _ name: RecordName) -> OrderLine {
        OrderLine(user: ordering == .key ? user : -1, place: name.place)
    }

    /// The first calls of one user's events come in the order of the events.
    mutating func firstCall(user: Int, of name: RecordName) {
        guard called.insert(name).inserted else { return }
        let line = line(user: user, name)
        let last = lastFirstCall[line] ?? -1
        if ordering != .none, last > name.offset {
            fail("promise 4: \(text(name)) was first called after offset \(last) of the same line")
        }
        lastFirstCall[line] = max(last, name.offset)
    }
}
