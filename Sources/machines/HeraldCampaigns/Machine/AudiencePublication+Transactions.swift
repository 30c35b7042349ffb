package import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
package import HeraldTime
package import HeraldTools

/// What a publisher writes, what that means to it, and what it leads to when it is refused or lost.
extension AudiencePublication {
    package mutating func batch(_ aim: PublicationAim, now: Moment) -> BatchWriter.Batch? {
        switch aim {
        case .open:
            noteHold(after: 0, isLast: isComplete, now)
            return transaction(opening, now)
        case .part:
            batch.write()
            noteHold(after: batch.count, isLast: batch.isLast, now)
            return transaction(Words(), now, events: batch.records, isLast: batch.isLast)
        case .sign: return transaction(Words(), now)
        case .order:
            let audit = nextControl.flatMap { $0 == overwrittenPause ? nil : AuditEntry(pause: $0, of: name) }
            return transaction(Words(control: nextControl, audit: audit), now)
        case .end(let end):
            lastLook = nil
            let isAsleep = progress.open > 0 && progress.asleepUntil != nil
            if end == .complete, finishedAt == nil, !isAsleep { finishedAt = now.wall.milliseconds }
            return transaction(Words(audit: endEntry(end, now: now), end: end), now)
        }
    }

    package mutating func written(_ aim: PublicationAim, now: Moment) -> [Action] {
        switch aim {
        case .open: return [.openAudience(expiresAt: definition?.expiresAt)] + holdNews
        case .part: return batchWritten()
        case .order:
            if nextControl == overwrittenPause {
                hasRestoredPause = true
            } else {
                // It comes back from the topic, as all others see it.
                rejudges = now.monotonic.advanced(by: Self.signInterval)
            }
        case .sign, .end: break
        }
        return []
    }

    private mutating func batchWritten() -> [Action] {
        let (count, isLast) = (batch.count, batch.isLast)
        batch.clear()
        pace?.notePublished(count)
        progress.events += count
        progress.published += count
        progress.publishedNow += count
        if count > 0 { finishedAt = nil }
        guard isLast else { return holdNews }
        isComplete = true
        return [.notice(.allPublished)]
    }

    private var holdNews: [Action] { hold.map { [.notice(.held($0, name: name))] } ?? [] }

    package mutating func recovery(
        from failure: BatchWriter.Failure, _ aim: PublicationAim?, after count: Int
    ) -> PublicationRecovery {
        // What was asked for is done; only the last words are missing.
        if case .end(let end) = aim, [.interrupted, .complete, .detached].contains(end) { return .end(end) }
        let refusal: (error: KafkaError, failure: ToolFailure)
        switch failure {
        case .lost(.fenced(isLong: false)): return .end(.takenOver)
        case .lost(.fenced(isLong: true)): return .again(cause: "a transaction has taken too long", isCounted: false)
        case .lost(.unreachable(let error)): return .again(cause: error.words, isCounted: false)
        case .lost(.unclaimable(let error)) where error.kind == .unsupported:
            return .end(.failed(ToolFailure(noTransactions: error)))
        case .refused(let error), .lost(.unclaimable(let error)): refusal = (error, self.refusal(error))
        case .lost(.inDoubt(let error)): refusal = (error, doubt(error, count + 1))
        }
        guard !refusal.error.isLasting, count + 1 < Self.refusalLimit else { return .end(.failed(refusal.failure)) }
        return .again(cause: refusal.error.words, isCounted: true)
    }

    /// So often in a row a broker may refuse a transaction, one that it has ended itself for instance.
    static let refusalLimit = 10

    private func doubt(_ error: KafkaError, _ count: Int) -> ToolFailure {
        ToolFailure(
            "\(count) transactions in a row ended in doubt; started again, the same command finds out what of "
                + "them was written and goes on behind it", error)
    }

    private func refusal(_ error: KafkaError) -> ToolFailure {
        ToolFailure(
            "the broker takes no events", error,
            allow: KafkaPermission(
                .write, on: .transactionalID(context.transactionalID(of: name)), .topic(order.topic),
                .topic(context.topics.campaigns), .topic(context.topics.audit)))
    }
}

extension AudiencePublication {
    /// What a transaction says besides its events.
    struct Words {
        var definition: CampaignDefinition?
        var control: CampaignControl?
        var audit: AuditEntry?
        /// How it ended, if it has.
        var end: PublicationEnd?
    }

    /// Events and what belongs to them, and how far the campaign is then.
    private func transaction(
        _ words: Words, _ now: Moment, events: [OutgoingRecord] = [], isLast: Bool = false
    ) -> BatchWriter.Batch {
        let topics = context.topics
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
        return BatchWriter.Batch(records: records)
    }

    private func progressRecord(
        adding count: Int, isLast: Bool, _ end: PublicationEnd?, now: Moment
    ) -> CampaignProgress {
        let isAtEnd = isComplete || isLast
        return CampaignProgress(
            recipients: audience.recipients, audience: audience.mark,
            userColumn: audience.reading?.ownUserColumn, encoding: audience.reading?.encoding?.name,
            delimiter: audience.reading?.delimiter?.rawValue,
            strangers: progress.events > progress.published ? progress.events - progress.published : nil,
            replacements: replacements.isEmpty ? nil : replacements, published: progress.events + count,
            repeats: audience.repeats, invalid: audience.invalid,
            excluded: audience.excluded.isEmpty ? nil : audience.excluded, excludedMark: audience.excludedMark,
            emptyLines: audience.emptyLines,
            rate: terms.rate, ramp: terms.ramp == definition?.ramp ?? [] ? nil : terms.ramp,
            holds: terms.holds == definition?.holds ?? [] ? nil : terms.holds, heldSince: heldSince,
            rampWait: isAtEnd || isHeld ? nil : pace?.rampWait(now),
            end: end?.name(.recipients),
            endedBy: end == .interrupted ? stoppedBy : nil,
            finishedAt: finishedAt, begunAt: begunAt, isComplete: isAtEnd, at: now.wall.milliseconds,
            by: "\(context.operatorName) pid \(process)",
            outcomes: progress.outcomes.snapshot,
            resultOffsets: Dictionary(uniqueKeysWithValues: positions.map { ("\($0.key)", $0.value) }))
    }

    func startEntry(isNew: Bool, now: Moment) -> AuditEntry {
        var entry = audit(isNew ? "started" : "continued", now)
        entry.planned = audience.recipients
        var options = order.auditOptions
        if replacesScheduled { options["replaces-scheduled"] = "yes" }
        entry.options = options.isEmpty ? nil : options
        entry.tookOverFrom = former.flatMap { $0.end == nil ? $0.by : nil }
        return entry
    }

    private func endEntry(_ end: PublicationEnd, now: Moment) -> AuditEntry {
        var entry = audit("ended", now)
        entry.end = end.name(.recipients)
        if end == .interrupted { entry.reason = stoppedBy.map { "stopped by \($0)" } }
        entry.counts = [
            "published": progress.publishedNow, "delivered": progress.outcomes.delivered,
            "failed": progress.undelivered, "open": progress.open,
        ]
        return entry
    }

    private func audit(_ phase: String, _ now: Moment) -> AuditEntry {
        var entry = AuditEntry(
            action: "campaign.start", phase: phase, at: now.wall.text, by: context.operatorName)
        entry.selection = name
        return entry
    }
}
