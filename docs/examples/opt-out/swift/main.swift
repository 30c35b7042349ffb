import Foundation
import HeraldEvents
import HeraldKafka
// Says what a user does not want: opt-out-example BOOTSTRAP_SERVERS USER [ENTRY…], such as promotional pns:apns
import HeraldTime

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fatalError("usage: opt-out-example BOOTSTRAP_SERVERS USER [ENTRY…]") }
let (servers, user, entries) = (arguments[1], arguments[2], arguments.dropFirst(3))
let preferences = ProcessInfo.processInfo.environment["PREFERENCES_TOPIC"] ?? "notifications.preferences"

// The whole word: what is missing is wanted, and an empty one wants everything.
var optOut = OptOut()
optOut.isOfAll = entries.contains("all")
optOut.isOfPromotional = entries.contains("promotional")
optOut.pushServices = entries.filter { $0.hasPrefix("pns:") }.map { String($0.dropFirst("pns:".count)) }
optOut.sources = entries.filter { $0.hasPrefix("source:") }.map { String($0.dropFirst("source:".count)) }
let word = Preference(optOut, updatedAt: SystemClock.wall(), by: "opt-out-example").encoded()

// An idempotent producer keeps a user's changes in their order.
let producer = try Producer(properties: [("bootstrap.servers", servers), ("enable.idempotence", "true")])
if let refusal = producer.produce(
    topic: try producer.topic(preferences), key: user.utf8.span.bytes, value: word.span.bytes, token: 1)
{
    throw refusal
}
try producer.flush(timeout: .seconds(30)) { _, error in
    if let error { fatalError("not written: \(error)") }
}
producer.close()
