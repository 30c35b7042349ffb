internal import HeraldText
internal import HeraldThreads

/// Tasks that read a topic until no page asks for them any more, each with one answer.
final class ReadingTasks: Sendable {
    private struct Step: Sendable {
        var passed: Int64 = 0
        var total: Int64 = 0
        var answer: JSONValue?

        func json(_ key: String) -> JSONValue {
            (answer ?? ["passed": .integer(Int(passed)), "total": .integer(Int(total))])
                .with("state", .string(answer == nil ? "reading" : "done")).with("task", .string(key)).safe
        }
    }

    private let tasks: AskedTasks<Step>
    private let housekeeping: RepeatedWork

    /// - Parameters:
    ///   - name: The threads' name.
    ///   - busy: The sentence when four are at work.
    init(name: String, busy: String) throws {
        let tasks = try AskedTasks<Step>(name: name, most: 4, busy: busy)
        self.tasks = tasks
        housekeeping = try RepeatedWork(name: "housekeeping", every: .seconds(30)) { tasks.sweep() }
    }

    func stop() {
        housekeeping.stop()
        tasks.stop()
    }

    /// Begins one; the answer has its key.
    ///
    /// - Parameter body: Gets what takes its progress, and `false` back when no page asks for it any more.
    func begin(
        _ body: @escaping @Sendable (_ progress: (Int64, Int64) -> Bool) throws -> JSONValue
    ) throws -> ConsoleAnswer {
        let key = AccessToken.random()
        try tasks.begin(key, showing: Step()) { work in
            let answer = try body { passed, total in
                work.publish(Step(passed: passed, total: total))
                return work.isWanted
            }
            work.publish(Step(answer: answer))
        }
        return .json(Step().json(key))
    }

    /// How far the one with this key is, or its answer.
    func standing(of key: String) throws -> ConsoleAnswer {
        guard let snapshot = tasks.ask(key), let step = snapshot.value else {
            throw Refused("this was forgotten; ask again", status: 404)
        }
        if let failure = snapshot.failure { return .json(["state": "failed", "error": .failure(failure)]) }
        return .json(step.json(key))
    }
}
