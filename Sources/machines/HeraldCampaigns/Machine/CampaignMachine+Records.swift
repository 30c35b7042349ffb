internal import HeraldDriver
internal import HeraldEvents
internal import HeraldTime
internal import HeraldTools

extension CampaignMachine {
    /// What a transaction says besides its events.
    struct Words {
        var definition: CampaignDefinition?
        var control: CampaignControl?
        var audit: AuditEntry?
        /// How it ended, if it has.
        var end: PublishEnd?
    }

    /// The records of a transaction: events and what belongs to them, and how far the campaign is then.
    func records(_ events: [OutgoingRecord] = [], isLast: Bool = false, _ words: Words, now: Moment) -> [OutgoingRecord]
    {
        let topics = configuration.context.topics
        var records = events
        func add(_ key: String, _ value: [UInt8]) {
            records.append(OutgoingRecord(topic: topics.campaigns, key: Array(key.utf8), value: value))
        }
        if let definition = words.definition {
            add(CampaignDefinition.key(of: name), RecordJSON.encoded(definition))
        }
        if let control = words.control { add(name, control.encoded()) }
        let progress = progressRecord(adding: events.count, isLast: isLast, words.end, now: now)
        add(CampaignProgress.key(of: name), RecordJSON.encoded(progress))
        if let audit = words.audit { records.append(audit.record(topic: topics.audit)) }
        return records
    }

    private func progressRecord(adding count: Int, isLast: Bool, _ end: PublishEnd?, now: Moment) -> CampaignProgress {
        let audience = configuration.audience
        let isAtEnd = isComplete || isLast
        return CampaignProgress(
            recipients: audience.recipients, audience: audience.mark,
            strangers: progress.events > progress.published ? progress.events - progress.published : nil,
            replacements: replacements.isEmpty ? nil : replacements, published: progress.events + count,
            repeats: audience.repeats, invalid: audience.invalid,
            rampWait: isAtEnd || isHeld ? nil : pace?.rampWait(now), end: end?.name, finishedAt: finishedAt,
            isComplete: isAtEnd, at: now.wall.milliseconds,
            by: "\(configuration.context.operatorName) pid \(configuration.process)",
            outcomes: progress.outcomes.snapshot,
            resultOffsets: Dictionary(uniqueKeysWithValues: positions.map { ("\($0.key)", $0.value) }))
    }

    func startEntry(isNew: Bool, now: Moment) -> AuditEntry {
        var entry = audit(isNew ? "started" : "continued", now)
        entry.planned = configuration.audience.recipients
        let options = configuration.order.auditOptions
        entry.options = options.isEmpty ? nil : options
        return entry
    }

    func endEntry(_ end: PublishEnd, now: Moment) -> AuditEntry {
        var entry = audit("ended", now)
        entry.end = end.name
        entry.counts = [
            "published": progress.publishedNow, "delivered": progress.outcomes.delivered,
            "failed": progress.undelivered, "open": progress.open,
        ]
        return entry
    }

    private func audit(_ phase: String, _ now: Moment) -> AuditEntry {
        var entry = AuditEntry(
            action: "campaign.start", phase: phase, at: now.wall.text, by: configuration.context.operatorName)
        entry.selection = name
        return entry
    }
}
