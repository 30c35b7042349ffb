import Foundation
import HeraldEvents
import HeraldKafka
// Publishes one event and waits for its results: publish-example BOOTSTRAP_SERVERS USER MESSAGE
import HeraldTime

let arguments = CommandLine.arguments
guard arguments.count == 4 else { fatalError("usage: publish-example BOOTSTRAP_SERVERS USER MESSAGE") }
let (servers, user, message) = (arguments[1], arguments[2], arguments[3])
let environment = ProcessInfo.processInfo.environment
let requests = environment["REQUESTS_TOPIC"] ?? "notifications"
let results = environment["RESULTS_TOPIC"] ?? "notifications.results"

// Where the results end now: what is published from here on can only end behind that.
let consumer = try Consumer(properties: [
    ("bootstrap.servers", servers),
    // The client wants one; without subscribe() no group is joined.
    ("group.id", "publish-example"),
    ("isolation.level", "read_committed"),
])
let admin = try Admin(properties: [("bootstrap.servers", servers)])
let topics = try admin.metadata(topics: [results], timeout: .seconds(10)).topics
let positions = try topics.flatMap(\.partitions).map { partition in
    let place = TopicPartition(topic: results, partition: partition.id)
    return (place, offset: try consumer.queries.watermarks(of: place, timeout: .seconds(10)).high)
}
try consumer.assign(positions)

// Yours, and the same one when you publish the same thing again.
let id = UUID().uuidString
var event = NotificationEvent(id: id, user: user, message: message, pushServices: ["apns", "fcm"], source: "swift")
event.title = "Your parcel"
event.link = "https://shop.example/orders/17"  // where a tap leads
event.image = "https://cdn.example/parcel.png"

// The producer partitions keys as Java's clients do.
let producer = try Producer(properties: [("bootstrap.servers", servers), ("enable.idempotence", "true")])
let (key, value) = (event.recordKey, try event.encoded())
if let refusal = producer.produce(
    topic: try producer.topic(requests), key: key.span.bytes, value: value.span.bytes, token: 1)
{
    throw refusal
}
try producer.flush(timeout: .seconds(30)) { _, error in
    if let error { fatalError("not published: \(error)") }
}
producer.close()

var missing = Set(event.pushServices)
var isDelivered = true
let deadline = ContinuousClock.now + .seconds(60)
while !missing.isEmpty, ContinuousClock.now < deadline {
    guard let record = consumer.queue.next(wait: .seconds(1)) else { continue }
    defer { record.release() }
    // Errors here are news of brokers; the client goes on by itself.
    guard !record.isError else { continue }
    let bytes = record.withValue { value -> [UInt8] in
        guard let value else { return [] }
        return value.withUnsafeBytes { Array($0) }
    }
    let result = try NotificationResult(decoding: bytes)
    guard result.id == id else { continue }  // somebody else's
    print(String(decoding: bytes, as: UTF8.self))
    // A result without a push service is one for the whole event, which broke a rule.
    missing.subtract(result.pushService == nil ? missing : Set(result.requestedPushServices))
    isDelivered = isDelivered && result.outcome == .delivered
}
consumer.close()
exit(isDelivered && missing.isEmpty ? 0 : 1)
