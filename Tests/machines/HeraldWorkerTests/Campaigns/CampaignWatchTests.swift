import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@testable import HeraldCore
@testable import HeraldWorker

@Suite("Workers and the campaigns topic, on the embedded broker")
struct CampaignWatchTests {
    private static let topic = "campaigns"
    private let cluster: MockCluster
    private let watch: CampaignWatch
    private let heard = Guarded<[String]>([])
    private let known = Guarded<[String: CampaignControl]>([:])

    init() throws {
        cluster = try MockCluster()
        try cluster.createTopic(Self.topic, partitions: 1)
        let common: ClientProperties = [("bootstrap.servers", cluster.bootstrapServers)]
        watch = try CampaignWatch(
            configuration: CampaignConfiguration(
                topic: Self.topic, worker: "worker 1",
                readerProperties: common + [
                    ("group.id", "g"), ("enable.partition.eof", "true"), ("fetch.wait.max.ms", "20"),
                ],
                writerProperties: common + [("linger.ms", "0")]),
            admin: try Admin(properties: common), logger: .silent)
    }

    private func write(_ state: CampaignControl.State, of campaign: String) throws {
        let producer = try Producer(properties: [("bootstrap.servers", cluster.bootstrapServers), ("linger.ms", "0")])
        defer { producer.close() }
        let control = CampaignControl(state: state, at: SystemClock.wall(), by: "somebody", pauseIfFailures: 0.5)
        let (key, value) = (CampaignControl.key(of: campaign), control.encoded())
        let topic = try producer.topic(Self.topic)
        #expect(producer.produce(topic: topic, key: key.span.bytes, value: value.span.bytes, token: 0) == nil)
        try producer.flush(timeout: Patience.timeout) { _, error in #expect(error == nil) }
    }

    private func listen() {
        watch.listen { [heard, known] name, control in
            known.withLock { $0[name] = control }
            heard.withLock { $0.append("\(name) \(control.state) by \(control.by)") }
        }
    }

    private func hears(_ line: String) async -> Bool {
        (try? await eventually { heard.withLock { $0.contains(line) } }) == true
    }

    /// Follows the topic on a thread of its own while `body` runs.
    private func following(_ body: () async throws -> Void) async throws {
        let thread = try OwnThread(name: "campaign-watch") { [watch] in watch.run() }
        defer {
            watch.stop()
            thread.join()
        }
        try await body()
    }

    @Test("A lane receives the topic's records, however early or late it listens, and each change")
    func listeners() async throws {
        try write(.paused, of: "spring")
        listen()
        try await following {
            #expect(await hears("spring paused by somebody"))
            try write(.running, of: "spring")
            #expect(await hears("spring running by somebody"))
            heard.withLock { $0 = [] }
            listen()
            #expect(heard.withLock { $0 } == ["spring running by somebody"])
        }
    }

    @Test("A start waits until the topic has been read")
    func start() async throws {
        try write(.cancelled, of: "spring")
        try await following {
            watch.waitUntilRead()
            listen()
            #expect(heard.withLock { $0 } == ["spring cancelled by somebody"])
        }
    }

    @Test("A campaign with too many failures is paused in the worker's name")
    func pause() async throws {
        try write(.running, of: "spring")
        listen()
        try await following {
            #expect(await hears("spring running by somebody"))
            let judged = try #require(known.withLock { $0["spring"] })
            watch.pause(CampaignFailures(campaign: "spring", judged: judged, failed: 60, of: 100))
            #expect(await hears("spring paused by worker 1"))
        }
    }

    @Test("A missing topic delays nothing, and is read once it exists")
    func missing() async throws {
        cluster.setError(ofTopic: Self.topic, KafkaError.Code.unknownTopicOrPartition)
        listen()
        try await following {
            #expect(watch.waitUntilRead())
            cluster.setError(ofTopic: Self.topic, 0)
            try write(.paused, of: "spring")
            #expect(await hears("spring paused by somebody"))
        }
    }
}
