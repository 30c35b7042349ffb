import HeraldCore
import HeraldEvents

/// The checks of calls: promises 3 and 4, and no retry too soon.
extension Checkers {
    /// Notes that calls of this duty were under way, or answered and not yet durable, when their worker died, lost them
    /// or reached a deadline.
    mutating func faultHit(_ duty: Int) {
        // In transactions only calls without a record may be repeated. At least once, a written record may also have
        // been read by another worker.
        duties[duty].allowance += isAtomic ? duties[duty].callsOfStay : maximumCalls
        duties[duty].callsOfStay = 0
        duties[duty].isExcused = true
        duties[duty].isAnswered = false
        duties[duty].notBefore = nil
    }

    /// Notes a call's begin.
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

    /// Notes the call of an event from its request topic by a worker for which all records before `offset` are done,
    /// except for those that retention has deleted.
    ///
    /// - Parameter range: from the first remaining record to the one behind which the worker began.
    mutating func firstStay(_ duty: Int, of name: RecordName, known range: Range<Int64>) {
        // At least once, a delivered event may have a second life with another outcome.
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

    /// Notes the backend's side of a call, whether or not a worker hears of it.
    ///
    /// - Parameter holds: it means that no user can be called.
    mutating func backendAnswered(_ duty: Int, _ result: CallResult, holds: Bool, now: Int64) {
        let status = result.status
        let isRefused = status == 401 || status == 403 && result.verdict != .throttled && !holds
        if status == 200 { duties[duty].wasDelivered = true }
        if isRefused { duties[duty].firstRefusal = duties[duty].firstRefusal ?? now }
        if !isRefused, !holds, status != 0 { lastAcceptance = now }
    }

    /// Notes a call that may have reached the backend, without an answer.
    mutating func wasUnanswered(_ duty: Int) { duties[duty].wasUnanswered = true }

    /// Notes a rejection, by the settings of the worker that received it.
    mutating func wasRejected(_ duty: Int) { duties[duty].wasRejected = true }

    /// Notes that a worker has heard a refusal of its credentials: of its current ones, or of former ones.
    mutating func heardRefusal(_ duty: Int, ofFormerCredentials isFormer: Bool) {
        if duties[duty].hasHeardRefusal, !isFormer { duties[duty].wasRefusedAgain = true }
        duties[duty].hasHeardRefusal = true
    }

    /// Notes that a worker has heard an answer that counts as an attempt.
    mutating func heard(_ duty: Int) { duties[duty].heard += 1 }

    /// Notes that a worker has heard an answer after which there is no other call.
    mutating func answeredForGood(_ duty: Int) { duties[duty].isAnswered = true }

    /// Counts a probe that ended an outage as the call that it was.
    mutating func probeCounted(_ duty: Int) { count(duty) }

    /// Notes a call that failed by the cause of an outage: it does not count.
    mutating func waits(_ duty: Int, as before: Duty, wasCounted: Bool) {
        duties[duty] = before
        guard wasCounted else { return }
        duties[duty].calls -= 1
        duties[duty].callsOfStay -= 1
    }

    /// Notes a temporary failure: after its worker has heard of it, the next call has to wait.
    ///
    /// After a fault the number of calls that a worker has counted is unknown.
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

    /// Notes that a worker was told to wait for this time.
    mutating func toldToWait(_ duty: Int, _ milliseconds: Int64) {
        duties[duty].longestRetryAfter = max(duties[duty].longestRetryAfter, milliseconds)
    }

    /// An event may expire before its moment only when even the shortest wait ends after it, by its worker's clock.
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

    /// Notes that an event left its request topic for a retry topic: from now on later ones may overtake it.
    mutating func movedToRetry(_ name: RecordName) { called.insert(name) }

    /// Notes that a worker died or lost the event after another event of its line has been called.
    ///
    /// It may have been on its way to a retry topic: the world cannot tell.
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
