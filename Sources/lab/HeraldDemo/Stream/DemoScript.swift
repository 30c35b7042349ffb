import HeraldEvents
import HeraldSandbox
import HeraldTime

/// The demo's scenes in order, with one user each; their expectations include the settings' retry policy.
enum DemoScript {
    /// The delays between later calls, in the setting's form.
    ///
    /// They are short, because a user waits for the end; the scenes count on two immediate retries and these.
    static let delays = ["1s", "3s"]
    /// The maximum number of calls per push service: the first, two immediate retries, one after each delay.
    static let callLimit = 5
    private static let tooLong = String(repeating: "and on ", count: 600)

    /// Every scene; the first is delivered at once and shows that the worker is running.
    static let scenes: [DemoScene] = [
        DemoScene(
            user: "alice", message: "Your parcel is here", pushServices: ["apns", "gcm"],
            adding: { event in
                event.title = "Order 17"
                event.link = "shop://orders/17"
                event.image = "https://cdn.example/parcel.png"
                event.data = ["order": "17"]
                event.badge = 1
                event.sound = "default"
                event.category = "SHIPPED"
            },
            expected: [.delivered("apns"), .delivered("gcm")]),
        DemoScene(
            user: "nina", message: "CloudEvent as JSON", pushServices: ["gcm"], form: .structuredCloudEvent,
            expected: [.delivered("gcm")]),
        DemoScene(
            user: "bob", message: "Has opted out of ads", pushServices: ["gcm"],
            adding: { $0.eventClass = .promotional }, optOut: promotional, expected: [.suppressed("gcm", .optedOut)]),
        DemoScene(
            user: "grace", message: "One of three fails", pushServices: ["apns", "gcm", "wns"],
            rules: [
                .status(503) {
                    $0.user = "grace"
                    $0.pns = "gcm"
                }
            ],
            expected: [
                .delivered("apns"),
                .dead("gcm", .attemptsExhausted, status: 503, calls: callLimit, waits: true),
                .delivered("wns"),
            ]),
        DemoScene(
            user: "judy", message: "Not for the next 5 s", pushServices: ["apns"], notBeforeAfter: .seconds(5),
            expected: [.delivered("apns", waits: true)]),
        DemoScene(
            user: "erin", message: "Fails three times", pushServices: ["gcm"],
            rules: [refusing("erin", calls: 3)], expected: [.delivered("gcm", calls: 4, waits: true)]),
        DemoScene(
            user: "carol", message: "Asleep until it is over", pushServices: ["wns"],
            adding: { $0.eventClass = .promotional }, expiresAfter: .minutes(1), isAsleep: true,
            expected: [.suppressed("wns", .quietExpired)]),
        DemoScene(
            user: "peggy", message: "CloudEvent in headers", pushServices: ["wns"], form: .binaryCloudEvent,
            expected: [.delivered("wns")]),
        DemoScene(
            user: "dave", message: "Fails twice", pushServices: ["apns"], rules: [refusing("dave", calls: 2)],
            expected: [.delivered("apns", calls: 3)]),
        DemoScene(
            user: "frank", message: "Told to wait 2 s", pushServices: ["wns"],
            rules: [
                .status(429) {
                    $0.user = "frank"
                    $0.callsPerKey = 1
                    $0.retryAfter = "2"
                }
            ],
            expected: [.delivered("wns", calls: 2, waits: true)]),
        DemoScene(
            user: "heidi", message: "Refused for good", pushServices: ["apns"],
            rules: [.status(400) { $0.user = "heidi" }],
            expected: [.dead("apns", .rejected, status: 400, calls: 1)]),
        DemoScene(
            user: "mallory", message: "Torn JSON", pushServices: [], form: .tornJSON,
            expected: [.unreadable(.malformed)]),
        DemoScene(
            user: "ivan", message: "Connection breaks once", pushServices: ["gcm"],
            rules: [
                .hangUp {
                    $0.user = "ivan"
                    $0.callsPerKey = 1
                }
            ],
            expected: [.delivered("gcm", calls: 2)]),
        DemoScene(
            user: "jos\u{E9}", message: "No tag holds this user", pushServices: ["apns"],
            expected: [.unreadable(.invalid)]),
        DemoScene(
            user: "kim", message: "Too late", pushServices: ["gcm"], expiresAfter: .minutes(-1),
            expected: [.expired("gcm")]),
        DemoScene(
            user: "olivia", message: "Too long: on and on \(tooLong)", pushServices: ["wns"],
            expected: [.unreadable(.oversized)]),
    ]

    /// A rule that slows calls down, then the rules of all scenes.
    static let misbehaviour: [Misbehaviour] =
        [.latency(milliseconds: 30...150)] + scenes.flatMap(\.rules)

    /// The hub formats of sends for each push service.
    static let hubFormats = [("apns", "apple"), ("gcm", "fcmv1"), ("wns", "windows")].map {
        (pushService: $0.0, format: $0.1)
    }

    /// The scenes for a hub, which answers 201.
    static let hubScenes: [DemoScene] = scenes.map { scene in
        var scene = scene
        for index in scene.expected.indices where scene.expected[index].outcome == .delivered {
            scene.expected[index].status = 201
        }
        return scene
    }

    /// The rules for a hub, which knows formats and not push services.
    static let hubMisbehaviour: [Misbehaviour] = misbehaviour.map { rule in
        var rule = rule
        rule.pns = hubFormats.first { $0.pushService == rule.pns }?.format ?? rule.pns
        return rule
    }

    private static var promotional: OptOut {
        var optOut = OptOut()
        optOut.isOfPromotional = true
        return optOut
    }

    /// A rule that answers 503 to the first calls of each notification for the user.
    private static func refusing(_ user: String, calls: Int) -> Misbehaviour {
        .status(503) {
            $0.user = user
            $0.callsPerKey = calls
        }
    }
}
