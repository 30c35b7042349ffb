internal import HeraldEvents
internal import HeraldReplay
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTimeline

/// Questions to the job of this console that works on dead letters; it answers each in one of its turns.
///
/// Any thread asks; the job's thread answers.
final class LetterQuestions: Sendable {
    /// A job turns often; one that does not answer in this time reads a topic or waits for a broker.
    private static let patience = Duration.milliseconds(500)

    private struct Question {
        var number: Int
        var partition: Int32
        var offset: Int64
        var answer: @Sendable (Explanation.PlannedLetter?) -> Void
    }

    private struct State {
        var lastNumber = 0
        var open: [Question] = []
    }

    private let state = Guarded(State())

    /// The job that plans to replay a dead letter, and the reason why it has not yet; `nil` without a job or an answer.
    ///
    /// Blocks until the job's next turn or the time limit.
    func ask(partition: Int32, offset: Int64) throws(SystemError) -> Explanation.PlannedLetter? {
        let answer = Guarded<Explanation.PlannedLetter?>(nil)
        let news = try Wakeup()
        let number = state.withLock { state in
            state.lastNumber += 1
            state.open.append(
                Question(number: state.lastNumber, partition: partition, offset: offset) { given in
                    answer.withLock { $0 = given }
                    news.signal()
                })
            return state.lastNumber
        }
        _ = news.wait(for: Self.patience)
        state.withLock { state in state.open.removeAll { $0.number == number } }
        return answer.withLock { $0 }
    }

    func answer(_ job: ReplayMachine, _ now: Moment) {
        let open = state.withLock { state in
            defer { state.open = [] }
            return state.open
        }
        for question in open {
            let reason = job.waiting(forPartition: question.partition, offset: question.offset, now: now)
            question.answer(reason.map { Explanation.PlannedLetter(job: job.job, wait: WaitingPage.Wait($0)) })
        }
    }
}
