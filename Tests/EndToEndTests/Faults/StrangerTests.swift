import TestSupport
import Testing

/// Another program with the workers' `group.id` takes events away from them.
@Suite("A stranger in the group", .realKafka("A stranger in the group"))
struct StrangerTests {
    @Test("Worker, log, doctor and console name another program in the group until it has left")
    func stranger() async throws {
        try await Fixture.run { fixture in
            let settings = ["admin.listen": "127.0.0.1:\(try #require(FreePorts.take(1).first))"]
            try await fixture.publish(Batch.events(0..<10))
            let stranger = Stranger(fixture, clientID: "report-job")
            try await fixture.wait("it takes events") { stranger.takenCount == 10 }
            let worker = try await fixture.startWorker(changing: settings)
            var page = ""
            let isWarned = try await eventually {
                page = try await worker.page("/readyz").text
                return page.contains("stranger-in-group")
            }
            #expect(isWarned && page.contains("client.id report-job on /127.0.0.1"), "\(page)")
            #expect(try await worker.metrics()["herald_group_strangers"] == 1)
            #expect(worker.logLines.contains { $0.message.contains("client.id report-job") })
            let doctor = try await fixture.tool("doctor", "--only", "kafka", changing: settings)
            #expect(doctor.output.contains("no worker of Herald's (client.id report-job"), "\(doctor.output)")
            let console = try await ConsoleClient(fixture, changing: settings)
            _ = try await console.ask("/api/verdict") { "\($0)".contains("stranger-in-group") }
            try await stranger.stop()
            _ = try await console.ask("/api/verdict") { !"\($0)".contains("stranger-in-group") }
        }
    }

    @Test("Workers of one group with other names and free ports are not strangers to each other")
    func workers() async throws {
        try await Fixture.run { fixture in
            let first = try await fixture.startWorker(changing: ["delivery.lanes": "2"])
            let second = try await fixture.startWorker(changing: ["kafka.properties": #"{client.id: "herald-green"}"#])
            try await second.waitUntilReady()
            let doctor = try await fixture.tool("doctor", "--only", "kafka")
            #expect(!doctor.output.contains("no worker of Herald's"), "\(doctor.output)")
            for worker in [first, second] {
                #expect(try await !worker.page("/readyz").text.contains("stranger-in-group"))
            }
        }
    }
}
