package import HeraldEvents
package import HeraldTime
internal import HeraldTools

/// What a start of a campaign was asked for.
package struct CampaignOrder: Sendable {
    package var text: CampaignText
    package var topic: String
    /// Recipients a second; `nil` for what the campaign was started with, or no bound.
    package var rate: Double?
    /// The sizes of the ramp's steps, empty for none; `nil` for what the campaign was started with, or none.
    package var ramp: [Int]?
    /// At how many published recipients it waits for its operator, empty for nowhere; `nil` for what the campaign was started
    /// with, or nowhere.
    package var holds: [Int]?
    /// The share of failed outcomes above which it pauses itself; `nil` for what it was started with.
    package var pauseIfFailures: Double?
    /// So many milliseconds after its first start, or the moment at which it begins, the events expire.
    package var expiresIn: Milliseconds?
    /// When it begins; `nil` for what the campaign was started with, or at once.
    package var start: StartTime?
    /// What the preview has found, if that is to begin later: the only one that this start may replace.
    package var replaces: CampaignDefinition?
    /// Where its audience is kept; `nil` where this process alone has it.
    package var stored: StoredAudience?
    /// Whether the publisher ends when it has written what the campaign is: another process publishes it from ``stored``.
    package var detaches = false
    /// The share of the audience's lines that may be invalid; it counts from 20 lines on.
    package var maxInvalid = Self.standardMaxInvalid
    /// Whether another audience than the campaign had may take its place.
    package var replacesAudience = false
    /// Whether the audience has people who are added to those that the campaign had, and may lack the latter.
    package var addsPeople = false
    /// Whom it leaves out, as they were found; `nil` when nobody.
    package var exclusions: CampaignExclusions?
    /// Whether results were deleted by which the campaign's start had found them: then some may be missing.
    package var lacksResults = false
    /// What of its notifications reaches the push services; by default only a worker's settings say it.
    package var reach = ContentReach()
    /// The class of its topic; `nil` when workers do not obey users' words.
    package var eventClass: EventClass?
    /// Whether a pause because of failures is the end, because no operator watches who could resume it.
    package var endsWhenPausedByFailures = false

    /// The share that may be invalid unless an option allows more: a file that is read in a wrong way has more.
    package static let standardMaxInvalid = 0.01

    package init(text: CampaignText, topic: String) {
        self.text = text
        self.topic = topic
    }

    /// What the first start writes.
    ///
    /// - Parameters:
    ///   - requests: the ends of the request topic's partitions, by partition.
    ///   - results: the ends of the results topic's partitions, by partition.
    func newDefinition(
        at now: WallTime, by name: String, requests: [String: Int64], results: [String: Int64]
    ) -> CampaignDefinition {
        CampaignDefinition(
            name: text.name, message: text.template.message,
            content: text.template.content.isEmpty ? nil : text.template.content,
            pns: text.pushServices, topic: topic, rate: rate, ramp: ramp, holds: holds,
            expiresAt: expiresIn.map { (start?.start?.moment ?? now).advanced(by: $0).milliseconds },
            start: start?.start, audience: stored, exclusions: exclusions, startedAt: now.milliseconds, startedBy: name,
            requestOffsets: requests,
            resultOffsets: results)
    }

    /// A definition, of which nothing is published, with what this start was asked for.
    func replacing(_ former: CampaignDefinition, at now: WallTime) -> CampaignDefinition {
        var definition = former
        let content = text.template.content
        (definition.message, definition.content) = (text.template.message, content.isEmpty ? nil : content)
        definition.exclusions = exclusions
        if let start { definition.start = start.start }
        definition.audience = stored
        let begin = definition.start?.moment ?? now
        if let expiresIn {
            definition.expiresAt = begin.advanced(by: expiresIn).milliseconds
        } else if let start = former.start, let expiry = former.expiresAt {
            definition.expiresAt = begin.advanced(by: .milliseconds(expiry - start.at)).milliseconds
        }
        return definition
    }

    /// Whether the campaign is to begin later, and this start may replace it.
    ///
    /// - Throws: when it is not what the preview has found.
    func mayReplace(_ campaign: CampaignIndex.Campaign?, at now: WallTime) throws -> Bool {
        guard let campaign, let definition = campaign.definition, campaign.isScheduled(at: now) else { return false }
        guard definition == replaces || definition == replacing(definition, at: now) else {
            throw CampaignContinuation.outdated(campaign.name)
        }
        return true
    }

    /// Refuses a moment that is over, unless it is the one that the campaign had: the same command goes on.
    package func checkMoment(_ campaign: CampaignIndex.Campaign?, at now: WallTime) throws {
        guard let start = start?.start, start.moment <= now, start.at != campaign?.definition?.start?.at else { return }
        throw ToolFailure(
            "\(start.words) was \(CampaignWords.duration(now.time(since: start.moment).inSeconds)) ago; give --at a moment to "
                + "come, or now")
    }

    /// Refuses to detach a campaign that does not begin later: its start could not be replaced, and its audience neither.
    package func checkDetached(_ campaign: CampaignIndex.Campaign?, at now: WallTime) throws {
        guard detaches else { return }
        let isScheduled = campaign?.isScheduled(at: now) ?? true
        let begin = start.map(\.start) ?? campaign?.definition?.start
        guard isScheduled, let begin, begin.moment > now else {
            throw ToolFailure(
                isScheduled
                    ? "--detach is for a campaign that begins later; add --at"
                    : "campaign \(text.name) has begun, so that its audience stays where it is; leave --detach out")
        }
    }

    /// What was asked for, as the audit topic has it.
    var auditOptions: [String: String] {
        var options: [String: String] = [:]
        switch start {
        case .at(let start)?: options["at"] = start.moment.text
        case .atOnce?: options["at"] = "now"
        case nil: break
        }
        if detaches { options["detach"] = "yes" }
        if let rate { options["rate"] = "\(rate)/s" }
        if replacesAudience { options["replace-audience"] = "yes" }
        if addsPeople { options["add-people"] = "yes" }
        if let exclusions { options["exclude"] = exclusions.words }
        if let ramp { options["ramp"] = ramp.map(String.init).joined(separator: ",") }
        if let holds { options["hold-after"] = holds.isEmpty ? "none" : holds.map(String.init).joined(separator: ",") }
        if let pauseIfFailures { options["pause-if-failures"] = "\(pauseIfFailures * 100)%" }
        if maxInvalid != Self.standardMaxInvalid { options["max-invalid"] = ShareText.text(maxInvalid) }
        return options
    }

    /// What an index says of the campaign of this name; throws when some of it cannot be read.
    ///
    /// An unreadable definition must not be taken for none: all recipients would be notified again.
    package func campaign(in index: CampaignIndex) throws -> CampaignIndex.Campaign? {
        let name = text.name
        let keys = [
            name, CampaignDefinition.key(of: name), CampaignProgress.key(of: name), CampaignGo.key(of: name),
            "\(name)/cancelled",
        ]
        if let damage = index.damages.first(where: { keys.contains($0.key) }) {
            throw ToolFailure(
                "what is known of campaign \(name) cannot be read (the record \(damage.place) of the campaigns topic: "
                    + "\(damage.reason)), so nothing is published")
        }
        let campaign = index.campaign(name)
        if let campaign, campaign.definition == nil, campaign.progress != nil {
            throw ToolFailure("campaign \(name) has no definition any more, so nothing is published under its name")
        }
        return campaign
    }

    /// Makes sure that the campaign of this name is the one that is meant, and can be published.
    ///
    /// - Parameters:
    ///   - campaign: what is known of it; `nil` when nothing is.
    ///   - now: by then a campaign may have begun that was to begin later.
    ///   - mayBePaused: whether it may be paused, because it is resumed before it is published.
    package func check(against campaign: CampaignIndex.Campaign?, at now: WallTime, mayBePaused: Bool = false) throws {
        guard !addsPeople || campaign?.definition != nil else {
            throw ToolFailure("there is no campaign \(text.name) that people could be added to")
        }
        guard let campaign else { return }
        let name = campaign.name
        if addsPeople, let expiry = campaign.definition?.expiresAt, expiry <= now.milliseconds {
            throw ToolFailure(
                "campaign \(name) takes no people any more, because its notifications expired at "
                    + "\(WallTime(milliseconds: expiry).text); start another one for them")
        }
        switch campaign.state {
        case .cancelled:
            throw ToolFailure("campaign \(name) was cancelled, which is for ever; start another one under a new name")
        case .paused where !mayBePaused:
            let reason = campaign.control?.reason.map { " (\($0))" } ?? ""
            throw ToolFailure(
                "campaign \(name) is paused\(reason); resume it first with: herald campaign resume \(name); then start it again"
            )
        case .running, .paused: break
        }
        guard let definition = campaign.definition else { return }
        let mayReplace = try mayReplace(campaign, at: now)
        var differences = mayReplace ? [] : contentDifferences(from: definition)
        if Set(definition.pns) != Set(text.pushServices) {
            differences.append("its push services are \(definition.pns.joined(separator: ","))")
        }
        if definition.topic != topic { differences.append("its topic is \(definition.topic)") }
        if !mayReplace, expiresIn != nil, definition.expiresAt == nil { differences.append("its events do not expire") }
        if !mayReplace, let start = start?.start, start.at != definition.start?.at {
            differences.append(
                definition.start.map { "its start was \($0.words), which is over" } ?? "it was not to begin later")
        }
        guard differences.isEmpty else {
            throw ToolFailure(
                "there is a campaign \(name) already, and \(differences.joined(separator: ", ")): "
                    + "continue it with what it was started with, or choose another name")
        }
    }

    /// The results and files by which the campaign has left people out; `nil` when a start finds them anew.
    package func frozenExclusions(of campaign: CampaignIndex.Campaign?, at now: WallTime) -> CampaignExclusions? {
        guard let campaign, !campaign.isScheduled(at: now) else { return nil }
        return campaign.definition?.exclusions
    }

    /// Makes sure that it leaves out whom the campaign leaves out: that stays as it is, once it has begun.
    package func checkExclusions(against campaign: CampaignIndex.Campaign?, at now: WallTime) throws {
        guard let campaign, let definition = campaign.definition, try !mayReplace(campaign, at: now) else { return }
        guard definition.exclusions != exclusions else { return }
        let (former, present) = (definition.exclusions, exclusions)
        if let former, let present, former.namesSame(as: present) {
            throw ToolFailure(
                "campaign \(campaign.name) is not continued, because it was started since it was found whom this start leaves "
                    + "out. Start it again: then it has those that it had at its beginning")
        }
        throw ToolFailure(
            "campaign \(campaign.name) is not continued, because \(former.map { "it leaves people out (\($0.words))" } ?? "it leaves nobody out")"
                + ", and this start \(present.map { "others (\($0.words))" } ?? "nobody"). Continue it with what it was started with, "
                + "or choose another name")
    }

    /// What a campaign's notifications have differently, in words.
    func contentDifferences(from definition: CampaignDefinition) -> [String] {
        (definition.message == text.template.message ? [] : ["its message is another"])
            + (definition.content ?? CampaignContent()).differences(from: text.template.content)
    }
}
