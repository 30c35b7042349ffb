import HeraldTime

/// The dead-letter breaker: looks at the latest answers and opens when too many of them reject with the same status, as
/// with a wrong path in the settings.
///
/// It counts answers and not time, so that a wrong path costs no more dead letters when events are rare. A rejected
/// user counts once. One source, topic or push service with bad events opens nothing while another's get through. Each
/// known campaign has its own (``Campaigns``).
struct DeadLetterBreaker: Sendable {
    /// A source with fewer answers among the latest is no evidence about itself.
    static let fewest = 20
    /// Fewer users than this, or a quarter of the answers looked at, are no wrong path, however often they are rejected.
    static let fewestUsers = 10
    /// The time within which another call must get through, so that a source known to be bad does not count.
    static let excuseTime: Milliseconds = .seconds(10)

    /// The number of users that a rule takes for no chance.
    static func users(of rule: BreakerRule) -> Int { min(max(fewestUsers, rule.of / 4), (rule.of + 1) / 2) }

    private struct Answer: Sendable {
        /// The status that rejects; 0 for an accepting answer.
        var status: UInt16
        var user: UInt64
        var source: UInt64
    }

    private var rule: BreakerRule
    private var answers: [Answer] = []
    private var oldest = 0
    /// The number of latest answers in a row that rejected with one status, and that status.
    private var inARow = 0
    private var rowStatus: UInt16 = 0
    /// The source known to be bad by itself.
    private var excused: UInt64?
    private var lastPass = MonotonicTime.distantPast

    init(rule: BreakerRule) {
        self.rule = rule
        answers.reserveCapacity(rule.of)
    }

    /// Replaces the rule from the next answer on, over the latest answers within its range.
    mutating func use(_ rule: BreakerRule) {
        guard rule != self.rule else { return }
        answers = Array((answers[oldest...] + answers[..<oldest]).suffix(rule.of))
        answers.reserveCapacity(rule.of)
        oldest = 0
        self.rule = rule
    }

    /// Notes an answer that accepted the message.
    mutating func pass(source: UInt64, now: MonotonicTime) {
        guard rule.of > 0 else { return }
        inARow = 0
        lastPass = now
        if excused == source { excused = nil }
        note(Answer(status: 0, user: 0, source: source))
    }

    /// Notes a rejection; true when it trips the dead-letter breaker.
    ///
    /// - Parameter source: a hash of topic, push service and the event's source; those without a source count as one.
    mutating func fail(status: Int, user: UInt64, source: UInt64, now: MonotonicTime) -> Bool {
        guard rule.of > 0 else { return false }
        if excused == source, now < lastPass.advanced(by: Self.excuseTime) { return false }
        let status = UInt16(clamping: status)
        inARow = status == rowStatus ? inARow + 1 : 1
        rowStatus = status
        if !answers.contains(where: { $0.user == user && $0.status == status }) {
            note(Answer(status: status, user: user, source: source))
        }
        return isTripped(by: status)
    }

    /// The number of rejections with this status among the answers in view.
    func counts(of status: Int) -> (rejected: Int, all: Int) {
        let status = UInt16(clamping: status)
        return (answers.count { $0.status == status }, answers.count)
    }

    /// Forgets everything, but remembers this source as bad by itself.
    mutating func reset(excusing source: UInt64? = nil) {
        answers.removeAll(keepingCapacity: true)
        oldest = 0
        inARow = 0
        excused = source
    }

    private mutating func note(_ answer: Answer) {
        guard answers.count == rule.of else {
            answers.append(answer)
            return
        }
        answers[oldest] = answer
        oldest = oldest + 1 == rule.of ? 0 : oldest + 1
    }

    private func isTripped(by status: UInt16) -> Bool {
        let bad = answers.count { $0.status == status }
        // With few users the places are never full.
        if inARow >= rule.of {
            return rule.share <= 1 && bad >= Self.users(of: rule)
        }
        guard answers.count == rule.of, Double(bad) >= rule.share * Double(answers.count) else { return false }
        var sources: [UInt64: (answers: Int, bad: Int)] = [:]
        for answer in answers {
            sources[answer.source, default: (0, 0)].answers += 1
            if answer.status == status { sources[answer.source, default: (0, 0)].bad += 1 }
        }
        return sources.values.allSatisfy { source in
            source.answers < Self.fewest || Double(source.bad) >= rule.share * Double(source.answers)
        }
    }
}
