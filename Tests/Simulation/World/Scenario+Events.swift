import HeraldEvents
import HeraldTime

/// The events that are published.
extension Scenario {
    /// One event, before it is in a log.
    struct Published {
        var record: LogRecord
        /// The request topic's number.
        var topic: Int
        var partition: Int
        /// The services that must each get a final result: -1 for an unreadable event, none for a tombstone.
        var services: [Int]
        /// Whether it has an identifier of its own, so that the same event can come again.
        var hasOwnID = false
        /// The number of the campaign that it belongs to.
        var campaign: Int?
        var subject = Subject()
    }

    /// The parts beside the message that events may have.
    private static let content: [(field: ContentField, json: String)] = [
        (.title, #""a title""#), (.data, #"{"k":"v"}"#), (.badge, "1"),
    ]

    /// The parts of an event that its result names, because they do not reach the push service.
    func omitted(_ value: [UInt8], from service: String) -> ContentFields {
        let text = String(decoding: value, as: UTF8.self)
        let fields = ContentFields(Self.content.map(\.field).filter { text.contains("\"\($0.rawValue)\":") })
        guard let place = pushServices.names.firstIndex(of: service) else { return [] }
        return fields.subtracting(carriedContent[place])
    }

    static func sourceName(_ index: Int) -> String { "source-\(index)" }

    /// Whether all events of a request topic are promotional, by its number.
    func isPromotional(topic: Int) -> Bool { lastWords > 0 && topic == topics.requests.count - 1 }

    /// A campaign's name.
    static func campaignName(_ index: Int) -> String { "campaign-\(index)" }

    func event(number: Int, now: Int64, streams: inout Streams) -> Published {
        // However many numbers one event uses, the next one uses the same.
        var chance = Chance(seed: streams[.event].bits())
        let user = chance.below(users)
        let kind = hasPlainEvents ? 99 : chance.below(100)
        let key = Array("user-\(user)".utf8)
        var published = Published(
            record: LogRecord(key: key, value: nil, timestamp: now, user: user),
            topic: topics.requests.count > 1 && user % 4 == 0 ? 1 : 0, partition: user % partitions, services: [])
        if kind < 2 { return published }
        if kind < 5 {
            published.record.value = Array(#"{"user":"user-\#(user)","pns":"#.utf8)
            published.services = [-1]
            return published
        }
        if streams[.eventSize].happens(oversized) {
            published.record.size = streams[.eventSize].pick([.large, .huge, .enormous, .impossible])
        }
        if streams[.invalidEvent].happens(invalidEvents) { published.record.size = .invalid }
        let names = pushServices.names
        published.services = names.indices.filter { _ in chance.below(2) == 0 }
        if published.services.isEmpty { published.services = [0] }
        var fields = [
            #""user":"user-\#(user)""#, #""message":"number \#(number)""#,
            #""pns":[\#(published.services.map { "\"\(names[$0])\"" }.joined(separator: ","))]"#,
        ]
        published.hasOwnID = kind < 80
        if published.hasOwnID { fields.append(#""id":"event-\#(number)""#) }
        if streams[.campaignOfEvent].happens(campaignShare) {
            let campaign = streams[.campaignOfEvent].below(Self.campaigns)
            published.campaign = campaign
            fields.append(#""campaign":"\#(Self.campaignName(campaign))""#)
        }
        published.subject.isPromotional = isPromotional(topic: published.topic)
        if lastWords > 0 {
            if published.hasOwnID { published.subject.id = "event-\(number)" }
            let eventClass = streams[.eventClass].below(4)
            if eventClass < 2 { fields.append(#""class":"\#(eventClass == 0 ? "promotional" : "transactional")""#) }
            published.subject.isPromotional = published.subject.isPromotional || eventClass == 0
            if hasQuietHours, let zone = streams[.zone].pick(QuietClock.names) {
                published.subject.zone = zone
                fields.append(#""zone":"\#(zone)""#)
            }
            let source = streams[.source].below(Self.sources + 1)
            if source < Self.sources {
                published.subject.source = source
                fields.append(#""source":"\#(Self.sourceName(source))""#)
            }
        }
        if kind < 12 { fields.append(#""expiresAt":"\#(moment(now + chance.between(0, 40_000)))""#) }
        if kind >= 12 && kind < 22 {
            fields.append(#""notBefore":"\#(moment(now + chance.between(0, kind < 20 ? 60_000 : 900_000)))""#)
        }
        if !hasPlainEvents, streams[.content].below(4) == 0 {
            fields += Self.content.filter { _ in streams[.content].below(2) == 0 }.map {
                #""\#($0.field.rawValue)":\#($0.json)"#
            }
        }
        published.record.value = Array("{\(fields.joined(separator: ","))}".utf8)
        return published
    }

    /// One plain event of a run in which the trouble decides which users are hit.
    func event(number: Int, now: Int64, _ trouble: Trouble) -> Published {
        var chance = trouble.chance(6, number, 0, 0)
        var user = chance.below(users)
        if trouble.crowd.contains(number) {
            let first = user
            user = (0..<users).lazy.map { (first + $0) % users }.first(where: trouble.strikes(user:)) ?? first
        }
        let names = pushServices.names
        var services = names.indices.filter { _ in chance.below(2) == 0 }
        if services.isEmpty { services = [chance.below(names.count)] }
        var published = Published(
            record: LogRecord(key: Array("user-\(user)".utf8), value: nil, timestamp: now, user: user, event: number),
            topic: topics.requests.count > 1 && user % 4 == 0 ? 1 : 0, partition: user % partitions,
            services: services)
        if trouble.isOn { published.record.size = trouble.size(ofEvent: number) }
        let text = services.map { "\"\(names[$0])\"" }.joined(separator: ",")
        published.record.value = Array(
            #"{"user":"user-\#(user)","message":"number \#(number)","pns":[\#(text)],"id":"event-\#(number)"}"#.utf8)
        return published
    }

    private func moment(_ milliseconds: Int64) -> String {
        var text: [UInt8] = []
        RFC3339.append(WallTime(milliseconds: milliseconds), to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}

extension HeaderList {
    func text(_ name: HeaderName) -> String? {
        guard let value = lastValue(named: name.literal) else { return nil }
        return String(copying: value)
    }
}

extension String {
    init(copying bytes: RawSpan) {
        self = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
