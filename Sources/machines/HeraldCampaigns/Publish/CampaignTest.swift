package import HeraldEvents
internal import HeraldKafka
internal import HeraldText
package import HeraldTime
package import HeraldTools

/// A campaign's notification to a few users before it is started: its events name no campaign, so that none exists
/// afterwards.
package struct CampaignTest: Sendable {
    /// So many users get one at most.
    package static let mostUsers = 20
    /// So long outcomes are waited for.
    package static let patience = Duration.seconds(60)

    /// The users' events, in their order.
    package let events: [NotificationEvent]
    /// Whose line of the audience fills the texts of those who have none; `nil` where all have one, or no text has a field.
    package let filledBy: String?

    /// The users that a text names, such as `me,anna`, each once.
    package static func users(_ text: String) throws(ToolFailure) -> [String] {
        var users: [String] = []
        for part in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }).map(String.init)
        where !users.contains(part) { users.append(part) }
        guard !users.isEmpty else { throw ToolFailure("name the users who get it, such as me,anna") }
        guard users.count <= mostUsers else {
            throw ToolFailure(
                "a test goes to \(mostUsers) users at most, and \(users.count) are named; a ramp begins with more")
        }
        return users
    }

    /// Fills the texts in: from a user's own line of the audience, or else from that of its first recipient.
    ///
    /// - Parameters:
    ///   - audience: `nil` where no text has a field.
    ///   - id: what the events' ids begin with.
    package init(
        to users: [String], _ text: CampaignText, audience: Audience?,
        id: String = "campaign-test-\(EventPreparation.randomID().prefix(16))"
    ) throws {
        var found: [String: (message: String, content: CampaignContent)] = [:]
        var first: (user: String, message: String, content: CampaignContent)?
        if let audience {
            let wanted = Set(users.map { Array($0.utf8) })
            let reader = try RecipientReader(audience, text, expiresAt: nil)
            lines: while first == nil || found.count < users.count {
                switch try reader.next() {
                case .end: break lines
                case .invalid: continue
                case .recipient:
                    guard first == nil || wanted.contains(reader.user) else { continue }
                    let user = String(decoding: reader.user, as: UTF8.self)
                    let filled = (message: String(decoding: reader.message, as: UTF8.self), content: reader.content)
                    if first == nil { first = (user, filled.message, filled.content) }
                    if wanted.contains(reader.user), found[user] == nil { found[user] = filled }
                }
            }
            if let proof = reader.evidence.proof { throw try UnreadableAudience(proof, audience.file) }
            guard first != nil else { throw ToolFailure("the audience has no recipients, whose fields the texts need") }
        } else if let name = text.template.fields.names.first {
            throw ToolFailure(
                "the \(text.template.place(using: name)) uses {{\(name)}}, and without --audience nothing says what stands there"
            )
        }
        let plain = first.map { ($0.message, $0.content) } ?? (text.template.message, text.template.content)
        events = users.enumerated().map { number, user in
            let (message, content) = found[user].map { ($0.message, $0.content) } ?? plain
            var event = NotificationEvent(
                id: "\(id)-\(number + 1)", user: user, message: message, pushServices: text.pushServices,
                source: EventForm.source)
            (event.title, event.link, event.image) = (content.title, content.link, content.image)
            (event.badge, event.sound, event.category) = (content.badge, content.sound, content.category)
            event.data = content.data ?? [:]
            return event
        }
        let isFilled = text.template.fields.names.isEmpty || found.count == users.count
        filledBy = isFilled ? nil : first?.user
    }
}

extension CampaignContext {
    /// Publishes a test at once, after an audit record of who does it, and waits for its outcomes.
    ///
    /// Blocks.
    ///
    /// - Parameters:
    ///   - topic: the request topic; its class says whether users' words count.
    ///   - pushServices: those that the settings allow.
    ///   - time: how long outcomes are waited for; `nil` for not at all.
    ///   - onPublished: called with each event that the broker has.
    ///   - onOutcome: called with each outcome as it comes.
    /// - Returns: what has no outcome.
    package func send(
        _ test: CampaignTest, to topic: String, _ layout: Layout, _ text: CampaignText, pushServices: PushServices,
        for time: Duration?, at now: WallTime, isStopping: () -> Bool,
        onPublished: (EventPublisher.Publication) -> Void, onOutcome: (PublicationTracker.Entry) -> Void
    ) throws -> [PublicationTracker.Entry] {
        guard layout.requests[topic] != nil else {
            throw ToolFailure("there is no topic \(topic); make it with: herald topics apply")
        }
        let preparation = EventPreparation(
            decoder: RecordDecoder(
                pushServices: pushServices, maxEventBytes: text.maximumEventBytes, users: text.users),
            idBase: "")
        let prepared = try test.events.map { event in
            do throws(InputError) {
                return try preparation.prepare(event)
            } catch {
                throw ToolFailure("the notification for \(SafeText.quoted(event.user)) is none: \(error)")
            }
        }
        let results = try time.map { _ in
            try ResultsReader(
                properties: readerProperties, topic: topics.results, partitions: layout.results,
                mentioning: "\"\(EventForm.source)\"")
        }
        defer { results?.close() }
        try recordTest(test, to: topic, at: now)
        var tracker = PublicationTracker(pushServices: pushServices)
        let publisher = try EventPublisher(properties: controlProperties, topic: topic)
        func published(_ publication: EventPublisher.Publication) {
            onPublished(publication)
            tracker.expect(publication)
        }
        for event in prepared { _ = publisher.publish(event, onPublished: published) }
        publisher.finish(onPublished: published)
        if let failure = publisher.failures.first {
            throw ToolFailure(
                "the broker takes no events", failure.error, allow: KafkaPermission(.write, on: .topic(topic)))
        }
        guard let results, let time else { return [] }
        try results.follow(&tracker, for: time, isStopping: isStopping, onOutcome)
        return tracker.missing
    }

    private func recordTest(_ test: CampaignTest, to topic: String, at now: WallTime) throws {
        var entry = AuditEntry(action: "campaign.test", phase: "done", at: now.text, by: operatorName)
        entry.planned = test.events.count
        entry.options = ["topic": topic]
        try entry.recordReveal(topic: topics.audit, properties: controlProperties)
    }
}
