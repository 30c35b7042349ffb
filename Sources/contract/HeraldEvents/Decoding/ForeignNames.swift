import HeraldBytes

/// What other interfaces call a member of an event, in small letters without separators.
package struct ForeignNames: Sendable {
    /// The event's member.
    package let member: String
    /// Names that mean this part of a notification wherever they stand: a worker reports events that have one.
    package let certain: [String]
    /// Names that may mean it: the check before publishing asks.
    package let possible: [String]

    private init(_ member: String, certain: String = "", _ possible: String = "") {
        self.member = member
        self.certain = certain.split(separator: " ").map(String.init)
        self.possible = possible.split(separator: " ").map(String.init)
    }

    /// All that are known.
    package static let all: [Self] = [
        .init("id", "eventid messageid msgid notificationid uuid"),
        .init("source", "sender from"),
        .init("time", "timestamp createdat occurredat"),
        .init("user", "userid uid username to recipient recipients receiver users"),
        .init("message", "msg text body content alert"),
        .init("pns", "platform platforms pushservice pushservices provider channel service"),
        .init("campaign", "campaignid campaignname"),
        .init("class", "eventclass messageclass notificationclass"),
        .init("zone", "timezone tz tzid"),
        .init("expiresAt", "ttl timetolive expiry expires expiration expiresin validuntil deadline"),
        .init("notBefore", "sendat sendafter deliverat deliverafter scheduledat scheduledfor delay"),
        .init("title", certain: "heading headline"),
        .init("link", certain: "deeplink url clickaction", "uri href actionurl targeturl"),
        .init(
            "image", certain: "imageurl picture pictureurl picurl bigpicture urlimagestring",
            "photo icon largeicon mediaurl attachmenturl"),
        .init("data", "customdata extras appdata userinfo"),
        .init("badge", "badgecount badgenumber"),
        .init("sound", "soundname ringtone"),
        .init("category", "channelid androidchannelid clickcategory"),
        .init("pushType", "apnspushtype"),
        .init("collapseId", "collapsekey apnscollapseid"),
    ]

    /// All names of a member.
    package static func names(of member: String) -> [String] {
        all.first { $0.member == member }.map { $0.certain + $0.possible } ?? []
    }

    /// The objects of the push services' own payloads, which are written as they are.
    private static let payloads = ["aps", "apns", "android", "webpush", "notification"]
    private static let certainNames = all.flatMap(\.certain).map { Array($0.utf8) }
    private static let payloadNames = payloads.map { Array($0.utf8) }
    private static let longest = 16

    /// Whether a name in the object in which the message stands is certainly another interface's for a part of the
    /// notification.
    static func isCertain(_ name: RawSpan) -> Bool {
        if payloadNames.contains(where: { name.hasSameBytes(as: $0.span.bytes) }) { return true }
        var plain = InlineArray<16, UInt8>(repeating: 0)
        var count = 0
        for offset in 0..<name.byteCount {
            let byte = name[byteAt: offset]
            if byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") { continue }
            guard count < longest else { return false }
            plain[count] = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
            count += 1
        }
        let known = plain.span.bytes.extracting(0..<count)
        return certainNames.contains { known.hasSameBytes(as: $0.span.bytes) }
    }
}
