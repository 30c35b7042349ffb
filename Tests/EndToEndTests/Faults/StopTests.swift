import HeraldSandbox
import TestSupport
import Testing

@Suite("Stopping a worker", .realKafka("Stopping a worker"))
struct StopTests {
    @Test("SIGTERM with a slow backend: begun calls are finished, recorded and never repeated, exit 0")
    func slowBackend() async throws {
        var plan = Fixture.Plan()
        plan.settings = Held.settings
        plan.misbehaviour = [.hold()]
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<50))
            try await fixture.wait("calls are in flight") { fixture.backend.heldCount == Held.inFlight }
            fixture.backend.release(5)
            try await fixture.waitForResults(5)
            let called = Held.inFlight + 5
            try await fixture.wait("the next are in flight") { fixture.backend.calls.count == called }
            first.terminate()
            try await first.waitForLog("draining")
            fixture.backend.misbehave([])
            #expect(try await first.waitForExit() == 0)
            try await fixture.catchUp()
            #expect(fixture.backend.calls.count == called, "nothing new is called")
            #expect(fixture.count("notifications.results") == called, "every call that was made has its result")

            let second = try await fixture.startWorker()
            try await fixture.waitForResults(50)
            try await fixture.waitUntilAllIsCommitted()
            second.terminate()
            #expect(try await second.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<50))
            oracle.expectCalls { _ in 1 }
        }
    }

    @Test("SIGTERM with events that wait behind their user's others repeats no call")
    func waitingEvents() async throws {
        var plan = Fixture.Plan()
        plan.partitions = 1
        plan.settings = Held.settings
        plan.misbehaviour = [.hold { $0.user = "slow" }]
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker()
            let slow = (0..<5).map { Publication(id: "slow\($0)", user: "slow") }
            try await fixture.publish(slow + Batch.events(0..<50))
            try await fixture.waitForResults(50)
            first.terminate()
            try await first.waitForLog("draining")
            fixture.backend.misbehave([])
            #expect(try await first.waitForExit() == 0)
            #expect(fixture.backend.calls.count == 51, "those that wait are not called any more")

            _ = try await fixture.startWorker()
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            oracle.expectCalls { _ in 1 }
            oracle.expectResults(
                Batch.delivered(0..<50).merging(
                    slow.indices.map { ("slow\($0)", ["apns": "delivered 200 attempts 1"]) }
                ) {
                    $1
                })
            oracle.expectUserOrder()
        }
    }

    @Test("SIGTERM with a hanging backend ends with 0 at the drain deadline; the next worker gets the events")
    func hangingBackend() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["delivery.drainTimeout": "1s", "backend.timeout": "60s"]
        plan.misbehaviour = [.hang()]
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.wait("all are called") { fixture.backend.calls.count == 20 }
            let start = ContinuousClock.now
            first.terminate()
            #expect(try await first.waitForExit() == 0)
            #expect(ContinuousClock.now - start >= .milliseconds(900), "it waits for the drain's deadline")
            #expect(try await fixture.committed().values.allSatisfy { $0 == 0 })

            fixture.backend.misbehave([])
            let second = try await fixture.startWorker()
            try await fixture.waitForResults(20)
            try await fixture.waitUntilAllIsCommitted()
            second.terminate()
            #expect(try await second.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<20))
            oracle.expectCalls { _ in 2 }
        }
    }

    @Test("A second signal ends the worker at once with 1, and events under way are not committed")
    func secondSignal() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["delivery.drainTimeout": "1h", "backend.timeout": "10m"]
        plan.misbehaviour = [.hang { $0.user = "user-7" }]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<20))
            try await fixture.waitForResults(19)
            worker.terminate()
            try await worker.waitForLog("draining")
            #expect(worker.isRunning)
            worker.terminate()
            #expect(try await worker.waitForExit() == 1)
            try await Oracle(fixture).expectNothingPassed(try await fixture.committed())
        }
    }

    @Test("A killed static member continues with its partitions; a double of it ends the first with 1")
    func staticMember() async throws {
        var plan = Fixture.Plan()
        plan.settings = [
            "kafka.instance": "pod-0", "kafka.staticMembership": "true",
            // No wait in this test is that long, which shows that no worker waits for it.
            "kafka.properties": #"{session.timeout.ms: "120000", heartbeat.interval.ms: "500"}"#,
        ]
        try await Fixture.run(plan) { fixture in
            let first = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<10))
            try await fixture.waitForResults(10)
            try await fixture.waitUntilAllIsCommitted()
            first.kill()
            let second = try await fixture.startWorker()
            try await fixture.publish(Batch.events(10..<20))
            try await fixture.waitForResults(20)
            // The fenced one dies: its uncommitted calls would be repeated, and rightly.
            try await fixture.waitUntilAllIsCommitted()

            let double = try await fixture.startWorker()
            #expect(try await second.waitForExit() == 1)
            #expect(second.logLines.last { $0.level == "error" }?.message.contains("FENCED") == true)
            double.terminate()
            #expect(try await double.waitForExit() == 0)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<20))
            oracle.expectCalls { _ in 1 }
        }
    }
}
