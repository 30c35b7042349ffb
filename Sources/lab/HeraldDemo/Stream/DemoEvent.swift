import HeraldBytes
import HeraldText
import HeraldTime

/// One event of the stream, ready to be published.
struct DemoEvent: Sendable {
    /// The header by which a record is known again wherever it appears; Herald keeps the original headers.
    static let numberHeader: StaticString = "demo-event"
    private static let source = "/herald/demo"
    private static let type = "org.herald.demo.notification"

    /// Its place in the stream, from 0.
    let number: Int
    let scene: DemoScene
    let value: [UInt8]
    let headers: [(name: String, value: String)]

    /// An event of a scene; numbered, when its message tells its number.
    init(_ scene: DemoScene, number: Int, now: WallTime, isNumbered: Bool = false) {
        self.number = number
        self.scene = scene
        let id = Self.id(number)
        var fields: [JSONValue.Member] = [
            .init("user", .string(scene.user)),
            .init("message", .string(isNumbered ? "\(scene.message) (no. \(number))" : scene.message)),
            .init("pns", .array(scene.pushServices.map { .string($0) })),
        ]
        for (name, wait) in [
            ("expiresAt", scene.expiresAfter), ("notBefore", scene.notBeforeAfter),
        ] {
            guard let wait else { continue }
            fields.append(.init(name, .string(Self.text(now.advanced(by: wait)))))
        }
        switch scene.form {
        case .json:
            value = Self.bytes(.object([.init("id", .string(id))] + fields))
            headers = []
        case .tornJSON:
            value = Self.bytes(.object([.init("id", .string(id))] + fields)).dropLast(2)
            headers = []
        case .structuredCloudEvent:
            value = Self.bytes([
                "specversion": "1.0", "id": .string(id), "source": .string(Self.source), "type": .string(Self.type),
                "time": .string(Self.text(now)), "data": .object(fields),
            ])
            headers = [("content-type", "application/cloudevents+json")]
        case .binaryCloudEvent:
            value = Self.bytes(.object(fields))
            headers = [
                ("content-type", "application/json"), ("ce_specversion", "1.0"), ("ce_id", id),
                ("ce_source", Self.source), ("ce_type", Self.type), ("ce_time", Self.text(now)),
            ]
        }
    }

    /// The number and the push service of an idempotency key; nil when it is none of the demo's.
    static func parse(idempotencyKey: String) -> (number: Int, pushService: String)? {
        let parts = idempotencyKey.split(separator: ":", omittingEmptySubsequences: false)
        // id:user:pns, with the source before the push service if the event has one.
        guard parts.count == 3 || parts.count == 4, parts[0].hasPrefix(idPrefix),
            let number = Int(parts[0].dropFirst(idPrefix.count))
        else { return nil }
        return (number, String(parts[parts.count - 1]))
    }

    /// The key that Herald would send for the event.
    static func idempotencyKey(number: Int, user: String, pushService: String) -> String {
        "\(id(number)):\(user):\(pushService)"
    }

    /// The number of a numbered event's message, wherever it stands in a payload.
    static func number(inMessage text: String) -> Int? {
        text.firstMatch(of: /\(no\. (\d+)\)/).flatMap { Int($0.1) }
    }

    private static let idPrefix = "demo-"

    private static func id(_ number: Int) -> String { "\(idPrefix)\(number)" }

    private static func bytes(_ value: JSONValue) -> [UInt8] { Array(value.compact.utf8) }

    private static func text(_ time: WallTime) -> String {
        var bytes: [UInt8] = []
        RFC3339.append(time, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
