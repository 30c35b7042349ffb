internal import HeraldDriver
package import HeraldEvents
package import HeraldTime

/// Why a publisher waits, found in the state that it acts on when it is asked: nothing about it is kept.
extension CampaignMachine {
    /// Why it does not go on; `nil` when it has ended.
    package func waiting(now: Moment) -> JobWaitReason? {
        guard !isOver else { return nil }
        if let reason = writer.waiting(now: now) { return reason }
        switch phase {
        case .idle, .claiming, .opening, .finishing, .ended: return .nextTurn
        case .learning: return .reading(.campaign)
        case .placing: return .reading(.ends)
        case .readingBack: return .reading(.published)
        case .counting: return .reading(.outcomes)
        case .closing: return .lastOutcomes(openOutcomes, until: lastLook.map { now.wall($0.wake) })
        case .resting(let end): return .resting(until: now.wall(end))
        case .publishing, .paused:
            // The step that it would take now is found by the code that takes it, on a copy.
            var copy = self
            switch copy.nextStep(now) {
            case .wait(let reason): return reason
            case .gathering: return .reading(.audience)
            case .giveWay, .rest, .close, .pause, .restorePause, .gather, .write: return .nextTurn
            }
        }
    }

    /// Why a recipient's event is not published yet; `nil` when it is, or the audience does not have this one.
    package func waiting(for id: RecipientID, now: Moment) -> JobWaitReason? {
        guard let reason = waiting(now: now) else { return nil }
        if batch.contains(id) { return reason }
        let marks = recipients.marks(of: id)
        guard marks.contains(.seen), !marks.contains(.published) else { return nil }
        // In which order the file has them shows when it is read.
        let ahead = progress.recipients - progress.published - 1
        return ahead <= 0 ? reason : .turn(ahead: ahead, doing: reason.phrase)
    }

    /// The outcomes that are waited for.
    var openOutcomes: JobWaitReason.Outcomes {
        JobWaitReason.Outcomes(
            open: progress.open, retrying: silence?.retries.map { min($0.retrying, progress.open) },
            silence: silenceWords)
    }

    /// What is known of why no outcome comes although some are open; `nil` while some come.
    var silence: OutcomeSilence.Facts? { pace?.silenceFacts }

    /// The same in words; `nil` while a silence is none yet.
    var silenceWords: String? { silence.flatMap { CampaignWords.sentence($0, open: progress.open) } }
}

extension RampWait {
    /// What is waited for, as reasons name it.
    var standing: JobWaitReason.Step {
        let judgement: JobWaitReason.Step.Judgement =
            switch reason {
            case _ where goesOnAt != nil: .withoutOne(WallTime(milliseconds: goesOnAt ?? 0))
            case .mostlyOpen: .mostlyOpen
            case .undecided: .undecided
            case .outcomes: .outcomes
            }
        return JobWaitReason.Step(number: step, size: recipients, of: .recipients, judgement)
    }
}
