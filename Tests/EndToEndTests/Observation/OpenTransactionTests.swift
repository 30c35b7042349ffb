import HeraldKafka
import HeraldTime
import TestSupport
import Testing

/// A publisher that died with a transaction open delays all later records of others.
@Suite("Open transactions", .realKafka("Open transactions"))
struct OpenTransactionTests {
    /// The partition of all events.
    private static let partition: Int32 = 0

    private static func event(_ id: String) -> Publication {
        var event = Publication(id: id, user: "user-\(id)")
        event.partition = partition
        return event
    }

    /// Writes one event in a transaction and leaves it open.
    private func beginTransaction(
        _ fixture: Fixture, on topic: String = "notifications", with event: Publication = event("dead")
    ) async throws -> DeadPublisher {
        try await Blocking.run {
            let producer = try Producer(properties: [
                ("bootstrap.servers", fixture.bootstrapServers), ("transactional.id", "\(fixture.name)-dead"),
                // Longer than the test.
                ("transaction.timeout.ms", "600000"),
            ])
            try producer.initTransactions(timeout: Patience.timeout)
            try producer.beginTransaction()
            try producer.publish(event, to: producer.topic(fixture.topic(topic)))
            try producer.flush(timeout: Patience.timeout) { _, error in #expect(error == nil) }
            return DeadPublisher(producer)
        }
    }

    /// A producer used by another thread.
    private final class DeadPublisher: @unchecked Sendable {
        private let producer: Producer
        init(_ producer: Producer) { self.producer = producer }
        func abort() throws { try producer.abortTransaction(timeout: Patience.timeout) }
        func close() { producer.close() }
    }

    @Test("Aborted records in a delay topic are no overdue retries, even before a worker passes them")
    func aborted() async throws {
        var plan = Fixture.Plan()
        plan.settings = ["kafka.properties": #"{session.timeout.ms: "60000", heartbeat.interval.ms: "500"}"#]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish([Self.event("a")])
            try await fixture.waitForResults(1)
            try await fixture.waitUntilAllIsCommitted()
            worker.pause()
            var old = Self.event("aborted")
            old.timestamp = SystemClock.wall().milliseconds - 3_600_000
            let dead = try await beginTransaction(fixture, on: "notifications.retry.1s", with: old)
            try await Blocking.run { try dead.abort() }
            let doctor = try await fixture.tool("doctor", "--only", "kafka")
            #expect(!doctor.output.contains("overdue"), "\(doctor.output)")
            worker.resume()
            dead.close()
        }
    }

    @Test(
        "The lag includes records behind an open transaction; `explain` and the doctor name it"
    )
    func lag() async throws {
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish([Self.event("a")])
            try await fixture.waitForResults(1)
            let dead = try await beginTransaction(fixture)
            try await fixture.publish((0..<5).map { Self.event("b\($0)") })
            let labels = #"{topic="\#(fixture.topic("notifications"))",partition="\#(Self.partition)"}"#
            let isCounted = try await eventually {
                let metrics = try await worker.metrics()
                return metrics["herald_consumer_lag\(labels)"] == 6
                    && metrics["herald_last_stable_offset_lag\(labels)"] == 6
            }
            #expect(isCounted)
            let explained = try await fixture.tool("explain", "\(fixture.topic("notifications"))/\(Self.partition)/3")
            #expect(explained.output.contains("it cannot be read yet"), "\(explained.output)")
            #expect(explained.output.contains("6 offsets wait from 1 on"), "\(explained.output)")
            #expect(explained.output.contains("look again"), "as young as this one, it may be a live publisher's")
            let doctor = try await fixture.tool("doctor", "--only", "kafka")
            #expect(doctor.output.contains("6 wait, most of them in partition 0"), "\(doctor.output)")
            #expect(fixture.count("notifications.results") == 1)
            try await Blocking.run { try dead.abort() }
            try await fixture.waitForResults(6)
            #expect(
                try await eventually { try await worker.metrics()["herald_last_stable_offset_lag\(labels)"] == 0 })
            dead.close()
        }
    }

    @Test(
        "Worker, doctor, console and `find` name a transaction that does not end; their command ends it",
        .long("it waits for half a minute, which is what it is about"))
    func lasting() async throws {
        try await Fixture.run { fixture in
            let port = try #require(FreePorts.take(1).first)
            let settings = ["admin.listen": "127.0.0.1:\(port)"]
            let worker = try await fixture.startWorker(changing: settings)
            try await fixture.publish([Self.event("a")])
            try await fixture.waitForResults(1)
            let dead = try await beginTransaction(fixture)
            // Its process is gone; the brokers do not know.
            dead.close()
            try await fixture.publish((0..<5).map { Self.event("b\($0)") })
            let place = "\(fixture.topic("notifications"))/\(Self.partition): "
            var page = ""
            let isWarned = try await eventually(within: 2 * Patience.seconds) {
                page = try await worker.page("/readyz").text
                return page.contains("behind-open-transaction")
            }
            #expect(isWarned && page.contains(#""ready": true"#) && page.contains(place), "\(page)")
            #expect(page.contains("from 1 on behind a transaction"), "\(page)")
            #expect(page.contains("--start-offset 1") && !page.contains("lag-growing"), "\(page)")
            #expect(try await worker.metrics()["herald_partitions_behind_open_transaction"] == 1)
            let doctor = try await fixture.tool("doctor", "--only", "kafka", changing: settings)
            #expect(doctor.output.contains("open transaction") && doctor.output.contains(place), "\(doctor.output)")
            let found = try await fixture.tool("find", "--id", "b3")
            #expect(found.status == 1 && found.output.contains(place), "\(found.output)")
            let explained = try await fixture.tool("explain", "b3")
            #expect(explained.output.contains(place), "\(explained.output)")
            let console = try await ConsoleClient(fixture, changing: settings)
            _ = try await console.ask("/api/verdict") { "\($0)".contains("behind-open-transaction") }
            #expect(fixture.count("notifications.results") == 1)
            try await Java.run(
                "org.apache.kafka.tools.TransactionsCommand",
                [
                    "--bootstrap-server", fixture.bootstrapServers, "abort", "--topic", fixture.topic("notifications"),
                    "--partition", "\(Self.partition)", "--start-offset", "1",
                ])
            try await fixture.waitForResults(6)
            #expect(try await eventually { try await !worker.page("/readyz").text.contains("behind-open") })
        }
    }
}
