import TestSupport
import Testing

@testable import HeraldKafka

@Suite("librdkafka's statistics", .realTime)
struct ClientStatisticsTests {
    @Test("Numbers that reveal trouble are summed over brokers and partitions")
    func read() throws {
        let json = """
            {"name":"n","tx":7,"tx_bytes":100,"rx_bytes":200,"msg_cnt":3,"brokers":{
            "a":{"source":"learned","state":"UP","connects":1,"disconnects":2,"txerrs":1,"rxerrs":2,"req_timeouts":4,
            "txretries":8,"rtt":{"min":1,"p99":900}},
            "b":{"source":"configured","state":"TRY_CONNECT","connects":1,"rtt":{"p99":20}},
            "c":{"source":"configured","state":"INIT","connects":0},
            "g":{"source":"logical","state":"UP"}},
            "topics":{"t":{"partitions":{"0":{"fetchq_size":5},"-1":{"fetchq_size":0},"1":{"fetchq_size":6}}}}}
            """
        let statistics = try #require(ClientStatistics(json: Array(json.utf8)))
        #expect(statistics.requests == 7 && statistics.bytesSent == 100 && statistics.bytesReceived == 200)
        #expect(statistics.recordsQueued == 3 && statistics.bytesFetchedAhead == 11)
        #expect(statistics.requestErrors == 7 && statistics.requestRetries == 8 && statistics.disconnects == 2)
        #expect(statistics.brokersUp == 1 && statistics.brokersDown == 1 && statistics.slowestRoundTrip == 900)
    }

    @Test("The progress of a partition's reader")
    func progress() throws {
        let json = """
            {"brokers":{"a":{}},
            "topics":{"t":{"partitions":{"0":{"next_offset":5},"1":{"next_offset":6}}}}}
            """
        let progress = try #require(
            FetchProgress(json: Array(json.utf8), of: TopicPartition(topic: "t", partition: 1)))
        #expect(progress.position == 6)
    }

    @Test(
        "Any other JSON gives no statistics",
        arguments: [
            "", "{", "[]", #"{"tx":"7"}"#, #"{"tx":"#, #"{"tx":99999999999999999999}"#, #"{"a":[{"b":"}]"#, #"{"a":"\"#,
            #"{"brokers":{"a":[]}}"#,
        ])
    func garbage(json: String) {
        #expect(ClientStatistics(json: Array(json.utf8)) == nil)
    }

    @Test("A consumer and a producer report statistics on request")
    func clients() async throws {
        let cluster = try MockCluster()
        try cluster.createTopic("t", partitions: 1)
        let properties: ClientProperties = [
            ("bootstrap.servers", cluster.bootstrapServers), ("statistics.interval.ms", "50"),
        ]
        let producer = try Producer(properties: properties)
        let consumer = try Consumer(properties: properties + [("group.id", "g")])
        try consumer.assign([(TopicPartition(topic: "t", partition: 0), offset: Offset.beginning)])
        _ = try producer.produce("t", value: [1], token: 1)
        var told: (producer: ClientStatistics?, consumer: ClientStatistics?)
        try await #require(
            eventually(within: 60) {
                producer.deliveries { _, _ in }
                consumer.queue.next()?.release()
                if let text = producer.takeStatistics() { told.producer = ClientStatistics(json: text) }
                if let text = consumer.takeStatistics() { told.consumer = ClientStatistics(json: text) }
                return (told.producer?.bytesSent ?? 0) > 0 && (told.consumer?.bytesReceived ?? 0) > 0
                    && told.consumer?.brokersUp == 1
            })
        consumer.close()
        producer.close()
    }
}
