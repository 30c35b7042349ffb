internal import HeraldEvents
package import HeraldText
internal import HeraldTime
internal import HeraldTools

extension CampaignStatus {
    /// It as `herald campaign status -o json` has it; the message's text is not in it, others are as they came.
    package func json(_ feedback: FeedbackCount? = nil) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(campaign.name)), .init("state", .string(state.rawValue)),
            .init("since", .text(since?.text)), .init("by", .text(order?.by)), .init("reason", .text(reason)),
            .init("pausedByFailures", state == .paused ? .bool(campaign.control?.isByFailures ?? false) : .null),
            .init("pauseIfFailures", campaign.control?.pauseIfFailures.map { .number($0) } ?? .null),
            .init("finished", .bool(isFinished)), .init("expired", .bool(isExpired)),
            .init("detached", .bool(isDetached)), .init("recalled", recalled),
        ]
        if let definition = campaign.definition {
            members += [
                .init("pns", .array(definition.pns.map(JSONValue.string))), .init("topic", .string(definition.topic)),
                .init("startedAt", .string(WallTime(milliseconds: definition.startedAt).text)),
                .init("startedBy", .string(definition.startedBy)),
                .init("start", definition.start.map { start($0) } ?? .null),
                .init("expiresAt", .text(definition.expiresAt.map { WallTime(milliseconds: $0).text })),
            ]
        }
        if let progress = campaign.progress {
            members += [
                .init("recipients", .integer(progress.recipients)), .init("published", .integer(publishedRecipients)),
                .init("repeats", .integer(progress.lines.repeats)),
                .init("invalid", .integer(progress.lines.invalid)),
                .init("excluded", progress.excluded.map { _ in .integer(progress.excludedPeople) } ?? .null),
                .init("excludedFor", excludedFor ?? .null),
                .init("excludedWords", .text(CampaignWords.excluded(campaign))),
                .init("publishedAll", .bool(progress.isComplete)),
                .init("formerRecipients", progress.strangers.map { .integer($0) } ?? .null),
                .init("replacedAudiences", Self.changes(progress.replacements) { $0.added == nil }),
                .init("additions", Self.changes(progress.replacements) { $0.added != nil }),
                .init(
                    "publisher",
                    [
                        "by": .string(progress.by), "at": .string(WallTime(milliseconds: progress.at).text),
                        "alive": .bool(isPublisherAlive), "end": progress.end.map(JSONValue.string) ?? .null,
                        "endedBy": progress.endedBy.map(JSONValue.string) ?? .null,
                        "silentSeconds": silence.map { .integer(Int(saturating: $0.inSeconds)) } ?? .null,
                    ]),
                .init("emptyLines", progress.emptyLines.map { _ in .integer(progress.lines.empty) } ?? .null),
                .init("userColumn", .text(progress.userColumn)), .init("encoding", .text(progress.encoding)),
                .init("delimiter", .text(progress.delimiter)),
                .init("notifications", total.map { .integer($0) } ?? .null),
            ]
        }
        let holds = campaign.progress?.holds ?? campaign.definition?.holds ?? []
        if !holds.isEmpty { members.append(.init("holds", .array(holds.map { .integer($0) }))) }
        if state == .waiting, let hold = campaign.hold {
            let next = campaign.holds.next(from: hold + 1)
            members.append(
                .init(
                    "hold",
                    .present([
                        .init("recipients", .integer(hold)), .init("next", next.map { .integer($0) } ?? .null),
                        .init("sentence", .text(CampaignWords.hold(self))),
                    ])))
        }
        if let wait = rampWait {
            members.append(
                .init(
                    "rampWait",
                    [
                        "step": .integer(wait.step), "recipients": .integer(wait.recipients),
                        "open": .integer(wait.open), "retrying": wait.retrying.map { .integer($0) } ?? .null,
                        "reason": .string(wait.reason.rawValue),
                        "goesOnAt": wait.goesOnAt.map { .string(WallTime(milliseconds: $0).text) } ?? .null,
                        "sentence": .string(CampaignWords.sentence(wait)),
                    ]))
        }
        members += [
            .init(
                "outcomes",
                .object(
                    [.init("delivered", .integer(count.delivered))]
                        + count.allUnreached.map { .init($0.name, .integer($0.count)) }
                        + [
                            .init("recovered", .integer(count.recovered)),
                            .init("duplicate", .integer(count.duplicates)),
                        ])),
            .init("suppressedWhy", .text(CampaignWords.suppressed(count))),
            .init("byPushService", byPushService ?? .null),
            .init("retrying", backlog == nil ? .null : .integer(retrying)),
            .init("suspended", backlog == nil ? .null : .integer(suspended)),
            .init("inQuietHours", backlog == nil ? .null : .integer(asleep)),
            .init("waiting", backlog == nil ? .null : .integer(waiting)),
            .init("waits", wait.map(Self.json) ?? .null), .init("open", .integer(open)),
            .init("unpublished", .integer(unpublished)),
            .init("perSecond", perSecond.map { .number(($0 * 10).rounded() / 10) } ?? .null),
            .init("secondsLeft", secondsLeft.map { .integer(Int(saturating: $0.rounded(.up))) } ?? .null),
        ]
        if let feedback {
            let devices = feedback.devices.sorted { $0.key < $1.key }.map {
                JSONValue.Member($0.key, .integer($0.value))
            }
            members.append(
                .init(
                    "feedback",
                    [
                        "reached": .integer(feedback.reached), "nobody": .integer(feedback.nobody),
                        "refused": .integer(feedback.refused), "untold": .integer(feedback.untold),
                        "open": .integer(feedback.open(of: count.delivered)), "devices": .object(devices),
                    ]))
        }
        return .present(members)
    }

    /// Whom it leaves out; `nil` when nobody.
    private var excludedFor: JSONValue? {
        guard let exclusions = campaign.definition?.exclusions, let people = campaign.progress?.excluded else {
            return nil
        }
        return .array(
            zip(exclusions.reasons, people).map { ["reason": .string($0.words), "people": .integer($1)] })
    }

    /// What became of it on each push service; `nil` when that is not known, or nothing is published.
    private var byPushService: JSONValue? {
        guard let definition = campaign.definition, campaign.progress != nil, let counts = count.byPushService else {
            return nil
        }
        return .object(
            definition.pns.map { name in
                let count = counts[name] ?? OutcomeCount()
                let members =
                    [JSONValue.Member("delivered", .integer(count.delivered))]
                    + count.allUnreached.map { .init($0.name, .integer($0.count)) }
                    + [.init("open", .integer(max(0, publishedRecipients - count.known)))]
                return .init(name, .object(members))
            })
    }

    private func start(_ start: CampaignStart) -> JSONValue {
        .present([
            .init("at", .string(start.moment.text)), .init("zone", .text(start.zone)),
            .init("words", .string(start.words)), .init("sentence", .text(CampaignWords.start(self))),
            .init("late", .bool(campaign.isLate(at: now))),
            .init("detached", .bool(isDetached)),
        ])
    }

    private var recalled: JSONValue {
        guard let recall, let sentence = CampaignWords.recalled(self) else { return .null }
        return .present([
            .init("since", .text(recall.at?.text)), .init("by", .text(recall.by)),
            .init("reason", .text(recall.reason)), .init("sentence", .string(sentence)),
        ])
    }

    private static func json(_ wait: Wait) -> JSONValue {
        switch wait {
        case .trouble(let words): ["for": "trouble", "sentence": .string(words)]
        case .suspended(let count, let until):
            ["for": "suspended", "count": .integer(count), "until": .string(until.text)]
        case .retries(let count, let next): ["for": "retries", "count": .integer(count), "until": .string(next.text)]
        case .quietHours(let count, let next):
            ["for": "quiet-hours", "count": .integer(count), "until": .string(next.text)]
        }
    }

    private static func changes(
        _ changes: [AudienceReplacement]?, _ isMeant: (AudienceReplacement) -> Bool
    ) -> JSONValue {
        guard let changes else { return .null }
        let values = changes.filter(isMeant).map { change in
            let members: [JSONValue.Member] = [
                .init("at", .string(WallTime(milliseconds: change.at).text)), .init("by", .string(change.by)),
                .init("recipients", .integer(change.added ?? change.recipients)),
            ]
            return JSONValue.object(
                members + (change.added == nil ? [.init("unpublished", .integer(change.unpublished))] : []))
        }
        return .array(values)
    }
}
