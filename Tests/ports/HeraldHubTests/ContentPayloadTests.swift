import Foundation
import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@testable import HeraldHub

/// The examples are those of the platforms' documents, as far as an event can say them.
///
/// - APNs: "Generating a remote notification" and "Modifying content in newly delivered notifications", both under
///   https://developer.apple.com/documentation/usernotifications
/// - FCM: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages, and the example of a send in
///   https://learn.microsoft.com/azure/notification-hubs/firebase-migration-rest
/// - WNS: https://learn.microsoft.com/windows/apps/design/shell/tiles-and-notifications/adaptive-interactive-toasts
/// - Web push: https://learn.microsoft.com/azure/notification-hubs/browser-push; the limit is that of RFC 8291,
///   section 4
@Suite("What each platform is given of a notification, byte for byte")
struct ContentPayloadTests {
    private static let now = WallTime(milliseconds: 1_795_250_426_500)

    /// An event of these members, each in JSON.
    private func payload(
        _ format: NotificationFormat, _ members: String, options: DeliveryOptions = DeliveryOptions()
    ) throws -> String {
        try body(format, members, options: options).text
    }

    private func body(
        _ format: NotificationFormat, _ members: String, options: DeliveryOptions = DeliveryOptions()
    ) throws -> (text: String, problem: String?) {
        let value = Array(#"{"user":"bob","pns":"apns",\#(members)}"#.utf8)
        var event = DecodedEvent()
        let failure = RecordDecoder().decode(
            topicKind: .request, topic: "t", partition: 0, offset: 0, value: value.span.bytes, headers: HeaderList(),
            into: &event)
        #expect(failure == nil)
        let string = try HubConnectionString("Endpoint=sb://ns.example/;SharedAccessKeyName=n;SharedAccessKey=k")
        let writer = HubRequestWriter(
            try HubSending(string, hub: "MyHub", formats: ["pns": format]), authorization: nil, tracking: 0)
        var output: [UInt8] = []
        let content = event.content(in: value.span.bytes)
        let problem = writer.appendBody(
            service: 0, message: event.bytes(of: event.message, value: value.span.bytes), content: content,
            options: options, now: Self.now, to: &output)
        return (String(decoding: output, as: UTF8.self), problem)
    }

    private static let everything =
        #""message":"is here","title":"Your parcel","link":"shop://orders/17","image":"https://cdn.example/p.png","#
        + #""data":{"order":"17"},"badge":3,"sound":"ding.caf","category":"SHIPPED""#

    // MARK: APNs (Generating a remote notification)

    @Test("APNs: the documented game invitation, and a badge with a sound")
    func appleDocuments() throws {
        #expect(
            try payload(
                .apple,
                #""title":"Game Request","message":"Bob wants to play poker","category":"GAME_INVITATION","data":{"gameID":"12345678"}"#
            )
                == #"{"aps":{"alert":{"title":"Game Request","body":"Bob wants to play poker"},"category":"GAME_INVITATION"},"gameID":"12345678"}"#
        )
        #expect(
            try payload(.apple, #""message":"You got your emails.","badge":9,"sound":"bingbong.aiff""#)
                == #"{"aps":{"alert":"You got your emails.","badge":9,"sound":"bingbong.aiff"}}"#)
    }

    @Test("APNs: a picture has the app's extension fetch it; link and image stand beside aps")
    func apple() throws {
        #expect(
            try payload(.apple, Self.everything)
                == #"{"aps":{"alert":{"title":"Your parcel","body":"is here"},"badge":3,"sound":"ding.caf","category":"SHIPPED","#
                + #""mutable-content":1},"link":"shop://orders/17","image":"https://cdn.example/p.png","order":"17"}"#)
        // Without an alert that is an object, no extension runs.
        #expect(
            try payload(.apple, #""message":"m","image":"https://a/p.png""#)
                == #"{"aps":{"alert":{"body":"m"},"mutable-content":1},"image":"https://a/p.png"}"#)
        #expect(try payload(.apple, #""message":"m","sound":"none""#) == #"{"aps":{"alert":"m"}}"#)
        #expect(try payload(.apple, #""message":"m","link":"shop://1""#) == #"{"aps":{"alert":"m"},"link":"shop://1"}"#)
    }

    @Test("APNs: what only wakes the app has everything beside aps")
    func background() throws {
        #expect(
            try payload(.apple, Self.everything, options: DeliveryOptions(pushType: Array("background".utf8)))
                == #"{"aps":{"content-available":1},"message":"is here","title":"Your parcel","link":"shop://orders/17","#
                + #""image":"https://cdn.example/p.png","badge":3,"sound":"ding.caf","category":"SHIPPED","order":"17"}"#
        )
    }

    // MARK: FCM (HTTP v1)

    @Test("FCM: the documented match, drawn by Android, with data for the app")
    func firebaseDocuments() throws {
        let message =
            #""title":"Portugal vs. Denmark","message":"great match!","data":{"Nick":"Mario","Room":"PortugalVSDenmark"}"#
        #expect(
            try payload(.fcmv1, message)
                == #"{"message":{"notification":{"body":"great match!","title":"Portugal vs. Denmark"},"#
                + #""data":{"Nick":"Mario","Room":"PortugalVSDenmark"}}}"#)
    }

    @Test("FCM: the news that the documents of notification hubs send")
    func hubDocuments() throws {
        let news = #""title":"Breaking News","message":"FcmV1 is ready.","data":{"name":"wrench","count":"3"}"#
        #expect(
            try payload(.fcmv1, news)
                == #"{"message":{"notification":{"body":"FcmV1 is ready.","title":"Breaking News"},"#
                + #""data":{"name":"wrench","count":"3"}}}"#)
    }

    @Test("FCM: the channel and sound are Android's own, beside its options")
    func firebase() throws {
        #expect(
            try payload(.fcmv1, Self.everything, options: DeliveryOptions(isUrgent: true))
                == #"{"message":{"notification":{"body":"is here","title":"Your parcel","image":"https://cdn.example/p.png"},"#
                + #""data":{"link":"shop://orders/17","order":"17"},"#
                + #""android":{"priority":"HIGH","notification":{"channel_id":"SHIPPED","sound":"ding.caf"}}}}"#)
        #expect(
            try payload(.fcmv1, #""message":"m","sound":"none""#) == #"{"message":{"notification":{"body":"m"}}}"#)
    }

    @Test("FCM: with no more than link, data or badge the app draws it, as it draws a message alone")
    func firebaseData() throws {
        #expect(
            try payload(.fcmv1, #""message":"m","link":"shop://1","data":{"k":"v"},"badge":1"#)
                == #"{"message":{"data":{"message":"m","link":"shop://1","k":"v"}}}"#)
        #expect(
            try payload(.gcm, Self.everything)
                == #"{"data":{"message":"is here","title":"Your parcel","link":"shop://orders/17","#
                + #""image":"https://cdn.example/p.png","order":"17"}}"#)
    }

    // MARK: WNS (toast schema)

    @Test("WNS: the documented camp with a hero picture, and the documented sound")
    func windowsDocuments() throws {
        let camp =
            #""title":"Mary Anne","message":"Check out where we camped last night!","image":"https://a/HeroImage.png""#
        #expect(
            try payload(.windows, camp)
                == #"<toast><visual><binding template="ToastGeneric"><text>Mary Anne</text>"#
                + #"<text>Check out where we camped last night!</text>"#
                + #"<image placement="hero" src="https://a/HeroImage.png"/></binding></visual></toast>"#)
        #expect(
            try payload(.windows, #""message":"Some text","sound":"Sound.mp3""#)
                == #"<toast><visual><binding template="ToastGeneric"><text>Some text</text></binding></visual>"#
                + #"<audio src="ms-appx:///Sound.mp3"/></toast>"#)
    }

    @Test("WNS: a generic toast with a launch, a hero picture and audio, and the old one for a message alone")
    func windows() throws {
        #expect(
            try payload(.windows, Self.everything)
                == #"<toast launch="shop://orders/17" activationType="protocol"><visual><binding template="ToastGeneric">"#
                + "<text>Your parcel</text><text>is here</text>"
                + #"<image placement="hero" src="https://cdn.example/p.png"/></binding></visual>"#
                + #"<audio src="ms-appx:///ding.caf"/></toast>"#)
        #expect(
            try payload(.windows, #""message":"m","sound":"none""#)
                == #"<toast><visual><binding template="ToastGeneric"><text>m</text></binding></visual>"#
                + #"<audio silent="true"/></toast>"#)
        #expect(
            try payload(.windows, #""message":"m","data":{"k":"v"},"badge":1,"category":"c""#)
                == #"<toast><visual><binding template="ToastText01"><text id="1">m</text></binding></visual></toast>"#)
    }

    // MARK: Web push

    @Test("Web push: the documented title and body")
    func browserDocuments() throws {
        #expect(
            try payload(.browser, #""title":"Some Title","message":"Some body of a message""#)
                == #"{"title":"Some Title","body":"Some body of a message"}"#)
    }

    @Test("Web push: what a service worker hands to showNotification")
    func browser() throws {
        #expect(
            try payload(.browser, Self.everything)
                == #"{"title":"Your parcel","body":"is here","image":"https://cdn.example/p.png","#
                + #""data":{"link":"shop://orders/17","order":"17"}}"#)
        #expect(
            try payload(.browser, #""message":"m","data":{"k":"v"}"#)
                == #"{"title":"","body":"m","data":{"k":"v"}}"#)
    }

    @Test("No text breaks out of its place, in any format", arguments: NotificationFormat.allCases)
    func escapes(format: NotificationFormat) throws {
        let hostile = #"a\"b\\\n</text>]]>&'🎉\u0000\u202eשלום"#
        let members =
            #""message":"\#(hostile)","title":"\#(hostile)","link":"shop://x?a=1&b='2'","image":"https://a/?x=1&y=2","#
            + #""data":{"k":"\#(hostile)"},"sound":"a&b'c.caf""#
        let text = try payload(format, members)
        if format == .windows {
            let toast = try XMLElement(document: Array(text.utf8))
            #expect(toast.attributes["launch"] == "shop://x?a=1&b='2'")
            #expect(text.contains("<text>a&quot;b\\\n&lt;/text&gt;]]&gt;&amp;'🎉\u{FFFD}\u{202E}שלום</text>"))
            #expect(
                text.contains(#"src="https://a/?x=1&amp;y=2"/>"#) && text.contains(#"src="ms-appx:///a&amp;b'c.caf"/>"#)
            )
        } else {
            _ = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            let written = #"a\"b\\\n</text>]]>&'🎉\u0000"# + "\u{202E}שלום"
            #expect(text.components(separatedBy: written).count == 4)
        }
    }

    @Test(
        "A payload as large as allowed is sent; one byte more names the longest part that its platform gets",
        arguments: [
            (NotificationFormat.apple, 4_096), (.fcmv1, 4_096), (.gcm, 4_096), (.windows, 5_120), (.browser, 3_993),
        ])
    func boundary(format: NotificationFormat, limit: Int) throws {
        func members(_ count: Int) -> String {
            #""title":"t","link":"shop://1","data":{"k":"\#(String(repeating: "d", count: 1_000))"},"#
                + #""message":"\#(String(repeating: "m", count: count))""#
        }
        let room = limit - (try body(format, members(1)).text.utf8.count - 1)
        guard room <= 4_096 else { return }
        #expect(try body(format, members(room)).problem == nil)
        let over = try #require(try body(format, members(room + 1)).problem)
        #expect(
            over.contains(" 1 more than") && over.hasSuffix("shorten message, which has \(room + 1) bytes"), "\(over)")
        guard format != .windows else { return }
        let (half, most) = (String(repeating: "d", count: 1_000), String(repeating: "m", count: 1_990))
        let long = #""message":"\#(most)","title":"\#(half.prefix(250))","data":{"k":"\#(half)","l":"\#(half)"}"#
        #expect(try body(format, long).problem?.hasSuffix("shorten data, which has 2002 bytes") == true)
    }

    @Test("What a format has no place for is what its payload lacks")
    func carried() throws {
        let values: [ContentField: String] = [
            .title: "Your parcel", .link: "shop://orders/17", .image: "cdn.example", .data: #""order":"17""#,
            .badge: "3",
            .sound: "ding.caf", .category: "SHIPPED",
        ]
        for format in NotificationFormat.allCases {
            let text = try payload(format, Self.everything)
            for (field, value) in values {
                #expect(text.contains(value) == format.content.contains(field), "\(format) \(field)")
            }
        }
    }
}
