import HeraldBytes
public import HeraldTime

/// An event as a service publishes it: notify this user with this message on these push services.
public struct NotificationEvent: Equatable, Sendable {
    /// The producer's own id of 1 to 128 characters, the base of the idempotency key; the record's place when absent.
    public var id: String?
    /// The user to notify: 1 to 111 of `[A-Za-z0-9_@#.:-]`, unless the workers allow other users
    /// (``RecordDecoder/users``).
    public var user: String
    /// The text, at most 4096 bytes of UTF-8.
    public var message: String
    /// The push services, such as `apns`, `gcm`, `wns`.
    public var pushServices: [String]
    /// The service that sends it; copied to results and dead letters.
    public var source: String?
    /// The campaign that this belongs to; copied to results and dead letters.
    public var campaign: String?
    /// What it is for; `nil` leaves that to its topic, whose class may be stricter.
    public var eventClass: EventClass?
    /// Its user's time zone, as `Europe/Berlin`, for quiet hours that name none; at most 64 bytes.
    public var zone: String?
    /// When it happened.
    public var time: WallTime?
    /// It is never sent after this.
    public var expiresAt: WallTime?
    /// It is never sent before this.
    public var notBefore: WallTime?
    /// The line above the message: 1 to 256 bytes of UTF-8.
    public var title: String?
    /// Where a tap leads: a URL with `https:` or the app's own scheme, of at most 2048 bytes.
    public var link: String?
    /// A picture: an `https:` URL of at most 2048 bytes.
    public var image: String?
    /// Names and texts for the app; empty is absent.
    ///
    /// At most 64, names of 1 to 64 of `[A-Za-z0-9_.-]`, texts of at most 1024
    /// bytes, together at most 2048 (``ContentRules/reservedDataNames`` are refused).
    public var data: [String: String] = [:]
    /// The number on the app's icon, 0 to 99 999; iOS alone.
    public var badge: Int?
    /// `default`, `none`, or the name of a file in the app of at most 64 bytes.
    public var sound: String?
    /// APNs' category or Android's channel: 1 to 64 of `[A-Za-z0-9_.-]`.
    public var category: String?

    /// An event, not yet checked.
    public init(
        id: String? = nil, user: String, message: String, pushServices: [String], source: String? = nil,
        campaign: String? = nil, time: WallTime? = nil, expiresAt: WallTime? = nil, notBefore: WallTime? = nil
    ) {
        self.id = id
        self.user = user
        self.message = message
        self.pushServices = pushServices
        self.source = source
        self.campaign = campaign
        self.time = time
        self.expiresAt = expiresAt
        self.notBefore = notBefore
    }

    /// The record's key: the user, so that one user's events stay in order.
    public var recordKey: [UInt8] { Array(user.utf8) }

    /// Checks every rule, as Herald will when it reads the event.
    public func validate(with decoder: RecordDecoder = RecordDecoder()) throws(DecodingFailure) {
        _ = try encoded(checkedWith: decoder)
    }

    /// The record's value, after every rule was checked as Herald will check it.
    public func encoded(checkedWith decoder: RecordDecoder = RecordDecoder()) throws(DecodingFailure) -> [UInt8] {
        var event = DecodedEvent()
        return try encoded(checkedWith: decoder, into: &event)
    }

    /// The same, and what was decoded of it.
    package func encoded(
        checkedWith decoder: RecordDecoder, into event: inout DecodedEvent
    ) throws(DecodingFailure) -> [UInt8] {
        let output = json
        let failure = decoder.decode(
            topicKind: .request, topic: "unpublished", partition: 0, offset: 0, value: output.span.bytes,
            headers: HeaderList(), into: &event)
        if let failure { throw failure }
        return output
    }

    /// The parts that it has beside its message.
    package var contentFields: ContentFields {
        ContentFields(
            [
                (ContentField.title, title != nil), (.link, link != nil), (.image, image != nil),
                (.data, !data.isEmpty), (.badge, badge != nil), (.sound, sound != nil), (.category, category != nil),
            ].filter(\.1).map(\.0))
    }

    /// The record's value, unchecked.
    package var json: [UInt8] {
        var output: [UInt8] = []
        var writer = JSONObjectWriter()
        if let id { writer.append("id", id, to: &output) }
        writer.append("user", user, to: &output)
        writer.append("message", message, to: &output)
        writer.key("pns", &output)
        output.append(UInt8(ascii: "["))
        for (index, name) in pushServices.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            JSONText.appendString(name.utf8.span.bytes, to: &output)
        }
        output.append(UInt8(ascii: "]"))
        if let source { writer.append("source", source, to: &output) }
        if let campaign { writer.append("campaign", campaign, to: &output) }
        if let eventClass { writer.append("class", eventClass.rawValue, to: &output) }
        if let zone { writer.append("zone", zone, to: &output) }
        if let time { writer.append("time", time, to: &output) }
        if let expiresAt { writer.append("expiresAt", expiresAt, to: &output) }
        if let notBefore { writer.append("notBefore", notBefore, to: &output) }
        if let title { writer.append("title", title, to: &output) }
        if let link { writer.append("link", link, to: &output) }
        if let image { writer.append("image", image, to: &output) }
        if !data.isEmpty {
            writer.key("data", &output)
            for (index, member) in data.sorted(by: { $0.key < $1.key }).enumerated() {
                output.append(index == 0 ? UInt8(ascii: "{") : UInt8(ascii: ","))
                JSONText.appendString(member.key.utf8.span.bytes, to: &output)
                output.append(UInt8(ascii: ":"))
                JSONText.appendString(member.value.utf8.span.bytes, to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
        if let badge { writer.append("badge", Int64(badge), to: &output) }
        if let sound { writer.append("sound", sound, to: &output) }
        if let category { writer.append("category", category, to: &output) }
        writer.end(&output)
        return output
    }
}
