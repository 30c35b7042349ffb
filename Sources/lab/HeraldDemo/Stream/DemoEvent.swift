import HeraldEvents
import HeraldTime

/// One event of the stream, ready to publish.
struct DemoEvent: Sendable {
    /// The header that identifies a record in every topic; Herald keeps the original headers.
    static let numberHeader: StaticString = "demo-event"
    private static let source = "/herald/demo"
    private static let type = "org.herald.demo.notification"

    /// Its place in the stream, from 0.
    let number: Int
    let scene: DemoScene
    let value: [UInt8]
    let headers: [(name: String, value: String)]

    /// Creates an event of a scene; a numbered one has its number in its message.
    init(_ scene: DemoScene, number: Int, now: WallTime, isNumbered: Bool = false) {
        self.number = number
        self.scene = scene
        let id = Self.id(number)
        var event = NotificationEvent(
            id: id, user: scene.user, message: isNumbered ? "\(scene.message) (no. \(number))" : scene.message,
            pushServices: scene.pushServices, expiresAt: scene.expiresAfter.map { now.advanced(by: $0) },
            notBefore: scene.notBeforeAfter.map { now.advanced(by: $0) })
        scene.adding(&event)
        let time = RFC3339.text(now)
        switch scene.form {
        case .json: (value, headers) = (event.json, [])
        case .tornJSON: (value, headers) = (event.json.dropLast(2), [])
        case .structuredCloudEvent:
            event.id = nil
            let attributes =
                #"{"specversion":"1.0","id":"\#(id)","source":"\#(Self.source)","type":"\#(Self.type)","#
                + #""time":"\#(time)","data":"#
            value = Array(attributes.utf8) + event.json + [UInt8(ascii: "}")]
            headers = [("content-type", "application/cloudevents+json")]
        case .binaryCloudEvent:
            event.id = nil
            value = event.json
            headers = [
                ("content-type", "application/json"), ("ce_specversion", "1.0"), ("ce_id", id),
                ("ce_source", Self.source), ("ce_type", Self.type), ("ce_time", time),
            ]
        }
    }

    /// The number and the push service of an idempotency key; nil when the key is not one of the demo's.
    static func parse(idempotencyKey: String) -> (number: Int, pushService: String)? {
        let parts = idempotencyKey.split(separator: ":", omittingEmptySubsequences: false)
        // id:user:pns, with the source before the push service if the event has one.
        guard parts.count == 3 || parts.count == 4, parts[0].hasPrefix(idPrefix),
            let number = Int(parts[0].dropFirst(idPrefix.count))
        else { return nil }
        return (number, String(parts[parts.count - 1]))
    }

    /// The key that Herald sends for the event.
    static func idempotencyKey(number: Int, user: String, pushService: String) -> String {
        "\(id(number)):\(user):\(pushService)"
    }

    /// The number in a numbered event's message, anywhere in a payload.
    static func number(inMessage text: String) -> Int? {
        text.firstMatch(of: /\(no\. (\d+)\)/).flatMap { Int($0.1) }
    }

    private static let idPrefix = "demo-"

    private static func id(_ number: Int) -> String { "\(idPrefix)\(number)" }
}
