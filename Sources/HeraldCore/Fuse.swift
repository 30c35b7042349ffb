/// When answers that would make dead letters stop everything.
public struct FuseRule: Sendable, Equatable {
    /// This share of answers would make dead letters with one status; more than 1: never.
    public var share: Double
    /// Of so many answers; 0: never.
    public var of: Int

    /// The defaults: half of 200.
    public init(share: Double = 0.5, of: Int = 200) {
        self.share = share
        self.of = of
    }
}

/// The dead-letter fuse: looks at the latest answers and blows when too many of them would make dead letters with the
/// same status, as a wrong path in the settings does.
///
/// It counts answers and not time, so that a wrong path costs no more dead letters when events are rare. One source whose
/// events are bad blows nothing while those of another get through.
struct Fuse: Sendable, Equatable {
    /// A source with fewer answers among the latest says nothing about itself.
    static let fewest = 20

    private struct Answer: Sendable, Equatable {
        /// The status that makes a dead letter; 0 when it makes none.
        var status: UInt16
        var source: UInt64
    }

    private let rule: FuseRule
    private var answers: [Answer] = []
    private var oldest = 0

    init(rule: FuseRule) {
        self.rule = rule
        answers.reserveCapacity(rule.of)
    }

    /// Notes an answer after which its event goes on or is done.
    mutating func pass(source: UInt64) {
        note(Answer(status: 0, source: source))
    }

    /// Notes an answer that would make a dead letter; true when that blows the fuse.
    ///
    /// - Parameter source: a hash of the event's source; those without one count as one source.
    mutating func fail(status: Int, source: UInt64) -> Bool {
        let status = UInt16(clamping: status)
        note(Answer(status: status, source: source))
        return rule.of > 0 && answers.count == rule.of && isBlown(by: status)
    }

    /// Forgets everything.
    mutating func reset() {
        answers.removeAll(keepingCapacity: true)
        oldest = 0
    }

    private mutating func note(_ answer: Answer) {
        guard rule.of > 0 else { return }
        guard answers.count == rule.of else {
            answers.append(answer)
            return
        }
        answers[oldest] = answer
        oldest = oldest + 1 == rule.of ? 0 : oldest + 1
    }

    private func isBlown(by status: UInt16) -> Bool {
        let bad = answers.count { $0.status == status }
        guard Double(bad) >= rule.share * Double(answers.count) else { return false }
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
