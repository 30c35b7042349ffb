import HeraldThreads
import TestSupport
import Testing

@testable import HeraldConsole

@Suite("Tasks that live while pages ask for them")
struct AskedTasksTests {
    /// A clock that a test moves.
    private final class Clock: Sendable {
        private let begin = ContinuousClock.now
        private let passed = Guarded(Duration.zero)

        var now: ContinuousClock.Instant { begin + passed.withLock { $0 } }

        func advance(_ duration: Duration) { passed.withLock { $0 += duration } }
    }

    private struct Broken: Error {}

    private func tasks(_ clock: Clock, most: Int = 2) throws -> AskedTasks<Int> {
        try AskedTasks(
            name: "test", most: most, patience: .seconds(10), keeping: .seconds(60), busy: "too many",
            now: { clock.now })
    }

    /// Works until it is no longer wanted.
    @Sendable private func endless(_ work: AskedTasks<Int>.Work) {
        work.publish(1)
        let wakeup = try? Wakeup()
        while work.isWanted { _ = wakeup?.wait(for: .milliseconds(1)) }
        work.publish(2)
    }

    @Test("A task shows its published values, and ends when no page has asked for a while")
    func unasked() async throws {
        let clock = Clock()
        let tasks = try tasks(clock)
        try tasks.begin("a", endless)
        #expect(try await eventually { tasks.ask("a")?.value == 1 })
        clock.advance(.seconds(9))
        #expect(tasks.ask("a")?.isEnded == false)
        clock.advance(.seconds(9))
        #expect(tasks.ask("a")?.isEnded == false)
        clock.advance(.seconds(11))
        // Asking for it would keep it; the room for two others shows that it has ended.
        try tasks.begin("b", endless)
        #expect(try await eventually { (try? tasks.begin("c", endless)) != nil })
        #expect(tasks.ask("a").map { $0.isEnded && $0.value == 2 } == true)
        tasks.stop()
    }

    @Test("Begun again while it works it is the same task; after its end or failure, a new one")
    func again() async throws {
        let tasks = try tasks(Clock())
        let runs = Guarded(0)
        @Sendable func body(_ work: AskedTasks<Int>.Work) throws {
            let run = runs.withLock { runs in
                runs += 1
                return runs
            }
            work.publish(run)
            if run == 1 { endless(work) }
            throw Broken()
        }
        try tasks.begin("a") { try body($0) }
        try tasks.begin("a") { try body($0) }
        #expect(try await eventually { tasks.ask("a")?.value == 1 })
        #expect(runs.withLock { $0 } == 1)
        tasks.stop()
        #expect(try await eventually { tasks.ask("a")?.failure is Broken })
        #expect(try tasks.begin("a") { try body($0) }.failure is Broken)
        #expect(runs.withLock { $0 } == 1)
        // The other may have failed before it is examined.
        try tasks.begin("a") { try body($0) }
        #expect(try await eventually { tasks.ask("a").map { $0.value == 2 && $0.isEnded } ?? false })
    }

    @Test("The number of running tasks is limited, and ended ones are forgotten, oldest first")
    func bounds() async throws {
        let clock = Clock()
        let tasks = try tasks(clock)
        try tasks.begin("a", endless)
        try tasks.begin("b", endless)
        #expect(throws: Refused("too many", status: 429)) { try tasks.begin("c", endless) }
        #expect(tasks.ask("c") == nil)
        tasks.drop("b")
        #expect(tasks.ask("b") == nil)
        for number in 0..<10 {
            // The dropped one may take a moment to notice.
            #expect(
                try await eventually { (try? tasks.begin("n\(number)") { $0.publish(number) }) != nil }, "n\(number)")
            #expect(try await eventually { tasks.ask("n\(number)")?.isEnded == true })
            #expect(tasks.count <= 4)
            // Tasks last asked for at the same time are equally old.
            clock.advance(.milliseconds(1))
        }
        #expect(tasks.ask("n9")?.value == 9 && tasks.ask("n0") == nil)
        clock.advance(.seconds(61))
        tasks.sweep()
        #expect(
            try await eventually {
                tasks.sweep()
                return tasks.count == 0 || tasks.count == 1
            })
        #expect(tasks.ask("n9") == nil)
        tasks.stop()
    }
}
