import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@testable import HeraldHub

@Suite("A send to a hub, byte for byte")
struct SendTests {
    private static let now = WallTime(milliseconds: 1_795_250_426_500)

    private static func sending(
        _ formats: [String: NotificationFormat], tag: String = "username:{user}", endpoint: String = "sb://ns.example/"
    ) throws -> HubSending {
        let string = try HubConnectionString("Endpoint=\(endpoint);SharedAccessKeyName=n;SharedAccessKey=k")
        return try HubSending(string, hub: "MyHub", tag: tag, formats: formats)
    }

    private func request(
        _ format: NotificationFormat, _ message: String, options: DeliveryOptions = DeliveryOptions(),
        tag: String = "username:{user}", endpoint: String = "sb://ns.example/"
    ) throws -> String {
        let sending = try Self.sending(["a": .apple, "pns": format], tag: tag, endpoint: endpoint)
        let writer = HubRequestWriter(
            sending, authorization: "SharedAccessSignature x", tracking: 0x0123_4567_89AB_CDEF)
        let number = writer.service(named: Array("pns".utf8).span.bytes)
        let service = try #require(number)
        var body: [UInt8] = []
        let excess = writer.appendBody(
            service: service, message: Array(message.utf8).span.bytes, options: options, now: Self.now, to: &body)
        #expect(excess == nil)
        var output: [UInt8] = []
        writer.append(
            service: service, user: Array("bob".utf8).span.bytes, body: body, options: options, now: Self.now,
            token: 0xFEDC_0000_0000_0007, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// The common beginning of all sends.
    private func start(_ contentType: String, _ format: String) -> String {
        "POST /MyHub/messages/?api-version=2020-06 HTTP/1.1\r\nHost: ns.example\r\n"
            + "Authorization: SharedAccessSignature x\r\nUser-Agent: herald\r\nContent-Type: \(contentType)\r\n"
            + "ServiceBusNotification-Format: \(format)\r\n"
    }

    private static let json = "application/json;charset=utf-8"
    /// All kinds of characters that could break a body.
    private static let hostile = "a\"b\\\n<&>ü🎉"

    @Test(
        "Each format has its headers, and its body in the form of the tutorial, escaped",
        arguments: [
            (
                NotificationFormat.apple, json, "", "apns-push-type: alert\r\n",
                "{\"aps\":{\"alert\":\"a\\\"b\\\\\\n<&>ü🎉\"}}"
            ),
            (.gcm, json, "", "", "{\"data\":{\"message\":\"a\\\"b\\\\\\n<&>ü🎉\"}}"),
            (.fcmv1, json, "", "", "{\"message\":{\"data\":{\"message\":\"a\\\"b\\\\\\n<&>ü🎉\"}}}"),
            (
                .windows, "application/xml", "X-WNS-Type: wns/toast\r\n", "",
                "<toast><visual><binding template=\"ToastText01\"><text id=\"1\">a&quot;b\\\n&lt;&amp;&gt;ü🎉</text>"
                    + "</binding></visual></toast>"
            ),
            (.browser, json, "", "", "{\"title\":\"\",\"body\":\"a\\\"b\\\\\\n<&>ü🎉\"}"),
        ])
    func forms(
        format: NotificationFormat, contentType: String, before: String, after: String, body: String
    ) throws {
        #expect(
            try request(format, Self.hostile)
                == start(contentType, format.rawValue) + "\(before)ServiceBusNotification-Tags: username:bob\r\n"
                + "TrackingId: 01234567-89ab-cdef-fedc-000000000007\r\n\(after)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }

    @Test("Options and the expiry reach the push services that support them")
    func options() throws {
        let expiry = WallTime(milliseconds: 1_795_250_487_000)
        let options = DeliveryOptions(
            expiresAt: expiry, isUrgent: true, pushType: Array("voip".utf8), collapseID: Array("a\"b".utf8))
        let apple = try request(.apple, "x", options: options)
        #expect(
            apple.contains(
                "apns-push-type: voip\r\napns-priority: 10\r\napns-collapse-id: a\"b\r\napns-expiration: 1795250487\r\n"
                    + "ServiceBusNotification-Apns-Expiry: 2026-11-21T08:41:27"))
        #expect(
            try request(.gcm, "x", options: options).hasSuffix(
                "{\"data\":{\"message\":\"x\"},\"time_to_live\":60,\"priority\":\"high\",\"collapse_key\":\"a\\\"b\"}"))
        #expect(
            try request(.fcmv1, "x", options: options).hasSuffix(
                "{\"message\":{\"data\":{\"message\":\"x\"},"
                    + "\"android\":{\"ttl\":\"60s\",\"priority\":\"HIGH\",\"collapse_key\":\"a\\\"b\"}}}"))
        #expect(try request(.windows, "x", options: options).contains("\r\nX-WNS-TTL: 60\r\nContent-"))
    }

    @Test("A single option makes a valid object too")
    func oneOption() throws {
        #expect(
            try request(.fcmv1, "x", options: DeliveryOptions(isUrgent: false)).hasSuffix(
                ",\"android\":{\"priority\":\"NORMAL\"}}}"))
        #expect(
            try request(.fcmv1, "x", options: DeliveryOptions(collapseID: Array("c".utf8))).hasSuffix(
                ",\"android\":{\"collapse_key\":\"c\"}}}"))
        #expect(try request(.apple, "x", options: DeliveryOptions(isUrgent: false)).contains("apns-priority: 5\r\n"))
    }

    @Test(
        "A notification that only wakes the app has no alert, and its own priority", arguments: [nil, true, false])
    func background(isUrgent: Bool?) throws {
        let options = DeliveryOptions(isUrgent: isUrgent, pushType: Array("background".utf8))
        let request = try request(.apple, "x", options: options)
        #expect(request.contains("apns-push-type: background\r\napns-priority: 5\r\n"))
        #expect(request.hasSuffix("{\"aps\":{\"content-available\":1},\"message\":\"x\"}"))
    }

    @Test(
        "The time for a push service's attempts is never negative, and within FCM's limit",
        arguments: [(-5_000, 0), (999, 0), (1_000, 1), (10_000_000_000, 2_419_200)] as [(Int64, Int64)])
    func seconds(milliseconds: Int64, seconds: Int64) {
        #expect(NotificationBody.secondsLeft(Self.now.advanced(by: .milliseconds(milliseconds)), Self.now) == seconds)
    }

    @Test(
        "A notification is as large as its push service allows, and no larger",
        arguments: [
            (NotificationFormat.apple, "alert", 4_096), (.apple, "voip", 5_120), (.gcm, "", 4_096),
            (.fcmv1, "voip", 4_096), (.windows, "", 5_120), (.browser, "", 3_993),
        ])
    func limits(format: NotificationFormat, pushType: String, limit: Int) throws {
        let writer = HubRequestWriter(try Self.sending(["pns": format]), authorization: nil, tracking: 0)
        let options = DeliveryOptions(pushType: Array(pushType.utf8))
        func problem(_ count: Int) -> String? {
            var body: [UInt8] = []
            let message = [UInt8](repeating: UInt8(ascii: "x"), count: count)
            return writer.appendBody(
                service: 0, message: message.span.bytes, options: options, now: Self.now, to: &body)
        }
        var empty: [UInt8] = []
        _ = writer.appendBody(service: 0, message: [UInt8]().span.bytes, options: options, now: Self.now, to: &empty)
        let room = limit - empty.count
        #expect(problem(room) == nil)
        for excess in [1, 700] {
            #expect(
                problem(room + excess)
                    == "the notification has \(limit + excess) bytes, \(excess) more than its push service takes; shorten "
                    + "message, which has \(room + excess) bytes")
        }
    }

    @Test("The tag comes from the template, and the path from the connection string")
    func places() throws {
        let request = try request(.gcm, "x", tag: "u#{user}@t", endpoint: "sb://ns.example:8443/base/")
        #expect(request.contains("ServiceBusNotification-Tags: u#bob@t\r\n"))
        #expect(
            request.hasPrefix("POST /base/MyHub/messages/?api-version=2020-06 HTTP/1.1\r\nHost: ns.example:8443\r\n"))
    }

    @Test(
        "A template that could reach all users, or none, is refused",
        arguments: ["", "username", "{user}{user}", "a || {user}", "!{user}", "{user}\r\nX: y"])
    func templates(tag: String) {
        #expect(throws: InvalidArgument.self) { try Self.sending(["pns": .apple], tag: tag) }
    }

    @Test("A push service without a format is refused")
    func unknown() throws {
        let writer = HubRequestWriter(try Self.sending(["apns": .apple]), authorization: nil, tracking: 0)
        let (unknown, known) = (
            writer.service(named: Array("apn".utf8).span.bytes), writer.service(named: Array("apns".utf8).span.bytes)
        )
        #expect(unknown == nil && known == 0)
    }
}

@Suite("The meaning of a hub's refusal")
struct HubAnswerTests {
    @Test(
        "It follows from status, Retry-After and the body's text together",
        arguments: [
            (400, false, "400: The supplied notification payload is invalid.TrackingId:1", nil),
            (400, false, nil, nil),
            (400, false, "400: The Push Notification Service credentials are invalid", CallVerdict.throttled),
            (400, false, "The Apns certificate is expired. .TrackingId:1_G6,TimeStamp:1", .throttled),
            (400, false, "SubCode=40000. The apns certificate has expired", .throttled),
            (
                400, false,
                "The notification has no target applications. The notification format is gcm. Review the credentials "
                    + "specified in the notification hub description and the notification format.. TrackingId:1",
                .throttled
            ),
            (400, false, "The target application platform is not configured", .throttled),
            (400, false, "400: The tag 'username:credential' is invalid", nil),
            (400, false, "The tag expression username:certificate has expired: a tag is too long", nil),
            (400, false, "The payload is no JSON: the Apns certificate is expired", nil),
            (400, false, "certificate is expired", nil),
            (403, false, "403: No rights to send to username:quota", nil),
            (403, false, "403: Send claim is required. username:throttled quota exceeded", nil),
            (401, false, "401: ExpiredToken: . TrackingId:1", nil),
            (401, true, "401: InvalidSignature", nil),
            (403, false, nil, nil),
            (403, false, "403: Send claim is required for this operation.", nil),
            (403, false, "40103: Invalid authorization token signature", nil),
            (403, true, nil, .throttled),
            (403, true, "403: Quota exceeded", .throttled),
            (403, false, "403: The request was throttled", .throttled),
            (403, false, "403: The quota of notifications of the namespace is used up", .outage(.target(.quotaUsedUp))),
            (404, false, "404: No service is hosted at the specified address", .outage(.target(.hubNotFound))),
            (404, false, nil, .outage(.target(.hubNotFound))),
            (408, false, nil, nil), (413, false, "too large", nil),
            (429, false, nil, .throttled), (429, true, "quota", .throttled),
            (500, true, "credential", nil), (503, true, "quota", nil),
        ] as [(Int, Bool, String?, CallVerdict?)])
    func verdicts(status: Int, hasRetryAfter: Bool, detail: String?, verdict: CallVerdict?) {
        #expect(CallVerdict(readAtHub: status, hasRetryAfter: hasRetryAfter, detail: detail) == verdict)
    }
}
