import Testing

@testable import HeraldEvents

@Suite("Faults of a record's publisher")
struct PublisherFaultTests {
    /// Values from the tests of Kafka's own client, `org.apache.kafka.common.utils.Utils.murmur2`.
    @Test(
        "A key's partition is that of Java's producers",
        arguments: [
            ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829), ("abc", 479_470_107),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
        ] as [(String, Int32)])
    func partition(key: String, hash: Int32) {
        for count in [1, 2, 6, 1_000] {
            let partition = KeyPartition.partition(of: key.utf8.span.bytes, count: count)
            #expect(partition == (hash & 0x7FFF_FFFF) % Int32(count))
        }
    }

    private func fault(
        key: String?, user: String = "alice", partition: Int32 = 3, of count: Int = 6,
        _ headers: [(String, String)] = []
    ) -> PublisherFault? {
        var list = HeaderList()
        for (name, value) in headers { list.append(name, value) }
        let user = Array(user.utf8)
        guard let key else {
            return PublisherFault.of(key: nil, user: user.span.bytes, partition: partition, of: count, headers: list)
        }
        return PublisherFault.of(
            key: key.utf8.span.bytes, user: user.span.bytes, partition: partition, of: count, headers: list)
    }

    @Test("A missing key, a wrong key and a different partitioner are distinguished, in this order")
    func faults() {
        #expect(fault(key: "alice") == nil)
        #expect(fault(key: nil) == .noKey && fault(key: "") == .noKey)
        #expect(fault(key: "order-17") == .keyNotUser && fault(key: "Alice") == .keyNotUser)
        #expect(fault(key: "alice", partition: 5) == .partitioner && fault(key: "alice", partition: 2) == .partitioner)
        #expect(fault(key: nil, partition: 5) == .noKey)
    }

    @Test("A record in its murmur2 partition for fewer partitions is not a fault")
    func fewerPartitions() {
        // For alice's hash: 0 of 1 partition, 1 of 2 and of 4, 4 of 5, 3 of 6.
        for partition in [0, 1, 3, 4] as [Int32] { #expect(fault(key: "alice", partition: partition) == nil) }
        for count in 1...64 {
            for index in 0..<20 {
                let key = "user-\(index)"
                let partition = KeyPartition.partition(of: key.utf8.span.bytes, count: count)
                #expect(fault(key: key, user: key, partition: partition, of: 64) == nil, "\(key) of \(count)")
            }
        }
    }

    @Test("One partition, an unknown number of them, or one beyond that number allow no judgement")
    func unknown() {
        for count in [0, 1] { #expect(fault(key: nil, partition: 0, of: count) == nil) }
        #expect(fault(key: "alice", partition: 6) == nil)
    }

    @Test("Headers of a CloudEvent in quotes are a fault, and a refusal because of them says so")
    func quotedHeaders() {
        let quoted = [("ce_specversion", "1.0"), ("ce_id", "\"1\""), ("ce_source", "\"shop\""), ("ce_type", "t")]
        #expect(fault(key: "alice", quoted) == .quotedHeaders)
        #expect(fault(key: nil, quoted) == .noKey)
        #expect(fault(key: "alice", [("ce_id", "\"1\""), ("ce_source", "shop")]) == nil)
        #expect(fault(key: "alice", [("ce_source", "\"shop\"")]) == nil)
        let all = quoted.map { ($0.0, $0.1.hasPrefix("\"") ? $0.1 : "\"\($0.1)\"") }
        let refused = Decoding(eventJSON(["id": nil]), headers: all)
        #expect(refused.failure?.detail.contains("values are in quotes") == true)
    }

    @Test(
        "Parts of a notification under names that are no fields are a fault, after those of place and headers",
        arguments: [
            (#","imageUrl":"https://a/b""#, true), (#","deep_link":"shop://1""#, true), (#","notification":{}"#, true),
            (#","aps":{"alert":"m"}"#, true), (#","options":{"title":"t"}"#, true), (#","order":17"#, false),
            (#","pic_url":"https://a/b""#, true), (#","urlImageString":"https://a/b""#, true),
            (#","big-picture":"https://a/b""#, true), (#","icon":"i""#, false), (#","__________________u":1"#, false),
            (#","title":"t","data":{"imageUrl":"https://a/b"}"#, false), (#","options":{"priority":"high"}"#, false),
        ])
    func foreignFields(more: String, isFault: Bool) throws {
        let value = Array(#"{"id":"i","user":"alice","pns":"apns","message":"m"\#(more)}"#.utf8)
        for isCloudEvent in [false, true] {
            let value =
                isCloudEvent
                ? Array(#"{"specversion":"1.0","type":"t","source":"s","id":"i","data":"#.utf8) + value
                    + Array("}".utf8)
                : value
            var headers = HeaderList()
            if isCloudEvent { headers.append("content-type", "application/cloudevents+json") }
            var event = DecodedEvent()
            let failure = RecordDecoder().decode(
                topicKind: .request, topic: "t", partition: 3, offset: 0, value: value.span.bytes, headers: headers,
                into: &event)
            try #require(failure == nil)
            func fault(_ key: String) -> PublisherFault? {
                event.publisherFault(
                    key: Array(key.utf8), value: value, partition: 3, of: 6, headers: headers)
            }
            #expect(fault("alice") == (isFault ? .foreignFields : nil))
            #expect(fault("bob") == .keyNotUser)
        }
    }

    @Test("Headers of HTTP on a plain event are a fault, even with one partition")
    func headers() {
        #expect(fault(key: "alice", [("ce-id", "1")]) == .headers)
        #expect(fault(key: nil, of: 1, [("CE-Source", "shop")]) == .headers)
        #expect(fault(key: nil, [("ce-id", "1")]) == .noKey)
        for headers in [[("traceparent", "x")], [("ce-id", "1"), ("ce_id", "1")]] {
            #expect(fault(key: "alice", headers) == nil)
        }
        let structured = [("content-type", "application/cloudevents+json"), ("ce-id", "1")]
        #expect(fault(key: "alice", structured) == nil)
    }
}
