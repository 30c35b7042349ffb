internal import HeraldDriver
internal import HeraldEvents
internal import HeraldTime
internal import HeraldTools

/// What a publisher does next, and the batches that it writes.
extension CampaignMachine {
    /// What comes next, when the writer is free.
    enum Step {
        /// It can't go on.
        case giveWay(ToolFailure)
        /// It begins anew, to read what it does not yet.
        case rest
        case close(PublishEnd)
        /// It has the campaign paused.
        case pause(String)
        /// It writes again what its own start has taken the place of.
        case restorePause(CampaignControl)
        case wait(JobWaitReason)
        /// The audience is read.
        case gathering
        /// So many recipients at most may be in the next transaction.
        case gather(Int)
        case write
    }

    mutating func nextStep(_ now: Moment) -> Step {
        if let trouble { return .giveWay(trouble) }
        if isStopping { return .close(.interrupted) }
        if isOutgrown { return .rest }
        switch state {
        case .cancelled: return .close(.cancelled)
        case .paused:
            if let overwrittenPause, !hasRestoredPause { return .restorePause(overwrittenPause) }
            if order.endsWhenPausedByFailures, control?.isByFailures ?? false { return .close(.paused) }
            return .wait(
                .campaignPaused(by: control?.by ?? "", since: control?.at ?? now.wall, cause: control?.reason))
        case .running: break
        }
        if let rejudges, now.monotonic < rejudges { return .wait(.pauseUnread(until: now.wall(rejudges))) }
        if let reason = pace?.failure(now: now) { return .pause(reason) }
        if isComplete {
            return pace?.isAllKnown ?? false ? .close(.complete) : .wait(.lastOutcomes(openOutcomes, until: nil))
        }
        if let expiry = expiry(now), expiry <= now.monotonic { return .close(.expired) }
        switch batch.state {
        case .gathering, .writing: return .gathering
        case .gathered where batch.count > 0 || batch.isLast: return .write
        case .gathered, .idle: break
        }
        switch pace?.decision(now: now) {
        case .publish(let limit): return .gather(limit)
        case .wait(.rate): return .wait(.rate(until: now.wall(pace?.nextCredit ?? now.monotonic)))
        case .wait(.ramp):
            if let wait = pace?.rampWait(now) { return .wait(.rampStep(wait.standing, openOutcomes)) }
            return .wait(.openOutcomes(openOutcomes, limit: PublishAdmission.openLimit))
        case .wait(.outcomes), nil: return .wait(.openOutcomes(openOutcomes, limit: PublishAdmission.openLimit))
        }
    }

    /// Does what is to be done next.
    mutating func work(_ now: Moment) {
        look(now)
        guard writer.isReady else { return }
        switch nextStep(now) {
        case .giveWay(let failure): giveWay(to: failure, now)
        case .rest: rest(now)
        case .close(let end): close(end, now)
        case .pause(let reason): pause(reason, now)
        case .restorePause(let control): write(.restoredPause, Words(control: control), now)
        case .wait:
            passBatch()
            signIfDue(now)
        case .gathering: break
        case .write: writeBatch(now)
        case .gather(let limit):
            passBatch()
            signIfDue(now)
            guard writer.isReady else { return }
            actions += pace?.news(now: now).map { .notice($0) } ?? []
            batch.begin(atMost: limit)
            actions.append(.readRecipients)
        }
    }

    /// The lines that were looked at are published already.
    private mutating func passBatch() { if batch.state == .gathered, batch.count == 0, !batch.isLast { batch.clear() } }

    /// Looks whether outcomes come, and asks why none do.
    private mutating func look(_ now: Moment) {
        for question in pace?.look(now: now) ?? [] {
            switch question {
            case .retries: actions.append(.countRetries)
            case .workers: actions.append(.askWorkers)
            }
        }
    }

    /// Shows that it lives, when it is time.
    private mutating func signIfDue(_ now: Moment) {
        if let nextSign, nextSign <= now.monotonic { write(.sign, Words(), now) }
    }

    mutating func pause(_ reason: String, _ now: Moment) {
        let control = CampaignControl(
            state: .paused, at: now.wall, by: configuration.context.operatorName, reason: reason,
            pauseIfFailures: control?.pauseIfFailures, isByFailures: true)
        write(.pause, Words(control: control), now)
    }

    private mutating func writeBatch(_ now: Moment) {
        // No recipient of the preview may be missing at the end.
        guard !batch.isLast || progress.published + batch.count == configuration.audience.recipients else {
            return finish(.failed(AudiencePreview.changed))
        }
        batch.write()
        write(.batch, events: batch.records, isLast: batch.isLast, Words(), now)
    }

    mutating func batchWritten() {
        let (count, isLast) = (batch.count, batch.isLast)
        batch.clear()
        pace?.notePublished(count)
        progress.events += count
        progress.published += count
        progress.publishedNow += count
        if count > 0 { finishedAt = nil }
        if isLast {
            isComplete = true
            actions.append(.notice(.allPublished))
        }
    }
}
