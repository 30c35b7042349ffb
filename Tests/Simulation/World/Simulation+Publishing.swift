import HeraldBytes
import HeraldCampaigns
import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldText
import HeraldTime
import HeraldTools

/// The operators' view of the published campaign.
struct PublishingWorld {
    /// The first user of the audience, and the one behind its last.
    var first = 0
    var recipients = 0
    /// The users of each audience, by its mark.
    var audiences: [String: Set<Int>] = [:]
    /// The campaign's definition, as it was committed last, and the number of its texts.
    var definition: CampaignDefinition?
    var texts = 0
    /// The records of the audiences topic, and how many audiences were written.
    var chunks: [(key: [UInt8], value: [UInt8]?)] = []
    var stored = 0
    /// The audiences of which a chunk was lost or changed.
    var damaged: Set<String> = []
    /// The users with visible events.
    var published: Set<Int> = []
    /// The last control record of the campaign.
    var lastControl: CampaignControl?
    /// The publisher whose start has replaced a pause; it has to record the pause again before it publishes.
    var hasEndedPause: Process?
    /// The place of the last control record.
    var lastControlName: RecordName?
    /// The hold that an operator has let it pass last.
    var passedHold = 0
    /// Some of the published events are no longer in their topic: no start can know the notified users.
    var isCut = false
    /// Without further faults: the campaign comes to its end.
    var isFinishing = false
    /// The number of starts after obstacles to its end.
    var lastStarts = 0
    var isDone = false
}

/// Operators that publish a campaign, and the publishers' faults.
extension Simulation {
    private static let operators = Process(.publisher, 0)
    private static let mostLastStarts = 40
    /// The moment from which the campaign is brought to its end.
    private static let publishingTime = 2 * faultTime

    /// The number of the published campaign; other campaigns' events come by themselves.
    static let publishedCampaign = Scenario.campaigns
    static let campaignName = Scenario.campaignName(publishedCampaign)
    /// The number of a campaign.
    static func campaign(named name: String) -> Int? {
        (0...publishedCampaign).first { Scenario.campaignName($0) == name }
    }
    static let campaignText = "Good news"

    var isPublishingDone: Bool { publishers.isEmpty || publishing.isDone }

    func schedulePublishing() {
        guard !publishers.isEmpty else { return }
        publishing.recipients = scenario.recipients
        schedule(.publisherFault, after: self[Self.operators][.jobStart].between(0, 10_000))
        for _ in 0..<scenario.publisherFaults {
            schedule(
                .publisherFault, after: self[Self.operators][.jobFault].between(1_000, Self.publishingTime - 10_000))
        }
        schedule(.finishPublishing, after: Self.publishingTime)
    }

    // MARK: Topics

    /// The campaign's request topic: the last one.
    private var requestTopic: Int { cluster.currentNumbers[scenario.topics.requests.count - 1] }
    var requestPlaces: [Place] { (0..<cluster.partitions).map { Place(topic: requestTopic, partition: $0) } }

    /// A publisher's record in the form of a log, and its place.
    func publishedRecord(_ record: OutgoingRecord, at moment: Moment) -> (place: Place, record: LogRecord)? {
        var written = LogRecord(
            key: record.key, value: record.value, headers: record.headers, timestamp: moment.wall.milliseconds)
        if record.topic == scenario.topics.campaigns { return (place(ofControl: record.key ?? []), written) }
        guard let topic = cluster.number(of: record.topic) else { return nil }
        guard topic == requestTopic else { return (Place(topic: topic, partition: 0), written) }
        guard let user = user(ofKey: record.key) else { return nil }
        written.user = user
        return (Place(topic: topic, partition: user % cluster.partitions), written)
    }

    private func user(ofKey key: [UInt8]?) -> Int? {
        Int(String(decoding: (key ?? []).dropFirst("user-".utf8.count), as: UTF8.self))
    }

    /// Whether a record belongs to the published campaign.
    func isOfPublished(_ record: LogRecord) -> Bool {
        record.duties.first.map { checkers.duties[$0].campaign == Self.publishedCampaign } ?? false
    }

    /// The progress in a publisher's records.
    func progress(in records: [OutgoingRecord]) -> CampaignProgress? { campaign(in: records)?.progress }

    /// The definition in a publisher's records.
    func definition(in records: [OutgoingRecord]) -> CampaignDefinition? { campaign(in: records)?.definition }

    private func campaign(in records: [OutgoingRecord]) -> CampaignIndex.Campaign? {
        var index = CampaignIndex()
        for record in records where record.topic == scenario.topics.campaigns {
            index.add(key: record.key, value: record.value, place: "")
        }
        return index.campaign(Self.campaignName)
    }

    /// The campaign's waiting events in the retry topics.
    var publishedRetries: RetryBacklog.Count {
        var count = RetryBacklog.Count()
        let shortest = scenario.delays.count > 1 ? scenario.delays.min { $0.length < $1.length } : nil
        for duty in checkers.duties where duty.campaign == Self.publishedCampaign && duty.source == duty.origin {
            for name in duty.lives where !cluster.isDeleted(name.place) {
                if cluster.record(name)?.headers.text(.reason) == RetryReason.paused.rawValue {
                    count.suspended += 1
                } else {
                    count.retrying += 1
                    let isShort = shortest.map { scenario.topics.retryTopic($0) == cluster.topics[name.place.topic] }
                    if isShort != true { count.retryingLong += 1 }
                }
            }
        }
        return count
    }

    func hasExpired(at now: WallTime) -> Bool {
        guard let expiry = known.index.campaign(Self.campaignName)?.definition?.expiresAt else { return false }
        return expiry <= now.milliseconds
    }

    // MARK: Operators, and faults of publishers

    private func startPublisher() {
        guard let idle = publishers.first(where: { !$0.isRunning }) else { return }
        let isAlone = !publishers.contains(where: \.isRunning)
        if !isAlone { cluster.rivalled.insert(Self.operators.member) }
        followCampaigns()
        let choices = Choices(seed: scenario.seed)
        var chance = Chance(seed: self[Self.operators][.jobStart].bits())
        let isChange = changeScheduled(&chance)
        guard let template = try? ContentTemplate(message) else { return }
        var order = CampaignOrder(
            text: CampaignText(
                name: Self.campaignName, template: template,
                pushServices: Array(
                    scenario.pushServices.names.prefix(choices.pick([1, 1, 2], for: "publisher.services"))),
                maximumEventBytes: 65_536, users: .tag),
            topic: scenario.topics.requests[scenario.topics.requests.count - 1])
        order.ramp = choices.pick([nil, [1], [1, 3], [2, 2, 2], [5], [10, 10]], for: "publisher.ramp")
        order.holds = choices.pick([nil, [1], [3, 4], [2, 6, 9], [5, 1_000]], for: "publisher.holds")
        order.rate = chance.pick([nil, nil, 2, 20])
        let expiry = choices.between(30_000, 200_000, for: "publisher.expiresBy")
        order.expiresIn = choices.once(in: 8, for: "publisher.expires") ? .milliseconds(expiry) : nil
        if !publishing.isFinishing {
            order.pauseIfFailures = chance.pick([nil, 0.05, 0.3])
            order.endsWhenPausedByFailures = chance.below(4) == 0
        }
        order.replaces = known.index.campaign(Self.campaignName)?.definition
        if isChange { order.start = start(&chance) }
        // People are added at the end: not beside a publisher that does not know them.
        if isAlone, !publishing.isFinishing, chance.below(4) == 0 { publishing.recipients += 1 + chance.below(5) }
        // Another campaign's transaction is open before a new one's first record.
        if known.index.campaign(Self.campaignName) == nil, chance.below(3) == 0 {
            openBeside(place(ofControl: Array(CampaignDefinition.key(of: Self.campaignName).utf8)))
        }
        var lines: [Int?] = Array(publishing.first..<publishing.recipients)
        for _ in 0..<chance.below(4) {
            let line = chance.below(lines.count + 1)
            lines.insert(chance.below(2) == 0 ? nil : lines.first ?? nil, at: max(1, line))
        }
        let ids = RecipientIDs(campaign: Self.campaignName)
        var excluded = ExcludedPeople()
        if scenario.hasExclusions {
            // An operator whom no broker answers tries again.
            guard ends(of: resultPlaces, .committed) != nil else { return }
            order.exclusions = exclusions(of: order, into: &excluded)
            let isAnybodyLeft = lines.contains { user in
                user.map { excluded.reason(for: ids.id(of: Array("user-\($0)".utf8).span.bytes)) == nil } ?? false
            }
            if !isAnybodyLeft { (order.exclusions, excluded) = (nil, ExcludedPeople()) }
        }
        let begin = order.start.map(\.start) ?? order.replaces?.start
        if scenario.isDetached, !publishing.isFinishing, let begin, begin.moment > moment.wall, chance.below(2) == 0,
            known.index.campaign(Self.campaignName)?.isScheduled(at: moment.wall) ?? true
        {
            let people = lines.filter { user in
                user.map { excluded.reason(for: ids.id(of: Array("user-\($0)".utf8).span.bytes)) == nil } ?? false
            }
            (order.stored, order.detaches) = (store(people), true)
        }
        idle.start(
            SimulatedCampaign.Assignment(
                context: publisherContext, order: order, lines: lines, excluded: excluded,
                isChange: isChange || template.message != (order.replaces?.message ?? template.message)))
    }

    /// Who was delivered by other campaigns: until now, or as the campaign's start has found it.
    private func exclusions(of order: CampaignOrder, into people: inout ExcludedPeople) -> CampaignExclusions? {
        let campaign = known.index.campaign(Self.campaignName)
        let frozen = order.frozenExclusions(of: campaign, at: moment.wall)
        if frozen == nil, campaign?.definition != nil, campaign?.isScheduled(at: moment.wall) == false { return nil }
        var found = frozen ?? CampaignExclusions()
        if frozen == nil {
            found.campaigns = [Scenario.campaignName(0)]
            (found.deliveredWithin, found.deliveredSince) = (10_000, max(0, now - 10_000))
            found.resultStarts = Dictionary(uniqueKeysWithValues: resultPlaces.map { ("\($0.partition)", 0) })
        }
        let delivered = DeliveredPeople(found, campaign: Self.campaignName)
        var ends: [String: Int64] = [:]
        for place in resultPlaces {
            var position: Int64 = 0
            while let name = nextRecord(place, from: &position) {
                guard let value = cluster.record(name)?.value, let result = try? NotificationResult(decoding: value)
                else { continue }
                delivered.add(result, partition: Int32(place.partition), offset: name.offset, to: &people)
            }
            ends["\(place.partition)"] = position
        }
        if frozen == nil { found.resultEnds = ends }
        return found
    }

    private var publisherContext: CampaignContext {
        CampaignContext(
            topics: scenario.topics, readerProperties: [], writerProperties: [], controlProperties: [],
            operatorName: "operator")
    }

    // MARK: Detached

    private var knownStatus: CampaignStatus? {
        known.index.campaign(Self.campaignName).map {
            CampaignStatus(campaign: $0, count: OutcomeCount(snapshot: $0.progress?.outcomes ?? [:]), now: moment.wall)
        }
    }

    /// Writes an audience to its topic, a few people in each chunk.
    private func store(_ lines: [Int?]) -> StoredAudience {
        var seen: Set<Int> = []
        let users = lines.compactMap(\.self).filter { seen.insert($0).inserted }
        let ids = RecipientIDs(campaign: Self.campaignName)
        var mark = AudienceMark()
        for user in users { mark.add(ids.id(of: Array("user-\(user)".utf8).span.bytes)) }
        publishing.stored += 1
        var stored = StoredAudience(
            id: "audience-\(publishing.stored)", chunks: 0, bytes: 0, recipients: users.count, mark: mark.text,
            offsets: [:])
        for start in stride(from: 0, to: users.count, by: 3) {
            let people = users[start..<min(users.count, start + 3)]
            let chunk = AudienceChunk(
                stored.chunks, at: stored.bytes, lines: Array(people.map { "user-\($0)\n" }.joined().utf8))
            let key = Array(stored.key(of: stored.chunks, in: Self.campaignName).utf8)
            publishing.chunks.append((key, chunk.value))
            stored.chunks += 1
            stored.bytes += Int64(chunk.lines.count)
        }
        log("the audience \(stored.id) of \(users.count) recipients is stored")
        return stored
    }

    /// Deletes what is of no more use, or cuts a chunk.
    private func disturbAudiences() {
        guard scenario.isDetached else { return }
        publishing.chunks.removeAll { key, _ in
            StoredAudienceRule.isUseless(key: key, writtenAt: moment.wall, in: known.index, at: moment.wall)
        }
        guard !publishing.chunks.isEmpty, self[Self.operators][.jobFault].below(12) == 0 else { return }
        let index = self[Self.operators][.jobFault].below(publishing.chunks.count)
        let id = String(decoding: publishing.chunks[index].key, as: UTF8.self).split(separator: "/")[1]
        publishing.damaged.insert(String(id))
        log("a chunk of \(id) is damaged")
        if self[Self.operators][.jobFault].below(2) == 0 {
            publishing.chunks.remove(at: index)
        } else {
            publishing.chunks[index].value?.removeLast()
        }
    }

    /// A runner looks for a campaign to take up; whether it does, or has to wait.
    private func takeUp() -> Bool {
        followCampaigns()
        guard let status = knownStatus, status.isToBeTakenUp, let definition = status.campaign.definition,
            let stored = definition.audience, let idle = publishers.first(where: { !$0.isRunning })
        else { return false }
        var assembly = AudienceAssembly(stored, of: definition.name, in: "audiences")
        var bytes = [UInt8](repeating: 0, count: Int(stored.bytes))
        do {
            for (key, value) in publishing.chunks {
                guard let (lines, position) = try assembly.take(key: key, value: value) else { continue }
                bytes.replaceSubrange(position..<position + lines.count, with: lines)
            }
            try assembly.finish()
        } catch {
            if !publishing.damaged.contains(stored.id) { checkers.fail("a runner cannot read \(stored.id): \(error)") }
            return false
        }
        let users = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { user(ofKey: Array($0.utf8)) }
        guard let template = try? definition.template else { return false }
        var order = CampaignOrder(
            text: CampaignText(
                name: definition.name, template: template, pushServices: definition.pns, maximumEventBytes: 65_536,
                users: .tag), topic: definition.topic)
        (order.stored, order.exclusions) = (stored, definition.exclusions)
        if publishers.contains(where: \.isRunning) { cluster.rivalled.insert(Self.operators.member) }
        log("a runner takes the campaign up, with \(stored.id)")
        idle.start(
            SimulatedCampaign.Assignment(
                context: publisherContext, order: order, lines: users, takesUp: definition))
        return true
    }

    /// The text that an operator starts with: the campaign's, or the latest of one that is still to begin.
    private var message: String {
        guard scenario.hasSchedule else { return Self.campaignText }
        let campaign = known.index.campaign(Self.campaignName)
        if let definition = campaign?.definition, campaign?.isScheduled(at: moment.wall) == false {
            return definition.message
        }
        return publishing.texts > 0 ? "\(Self.campaignText) \(publishing.texts)" : Self.campaignText
    }

    /// An operator may want another moment, text and audience, as long as the campaign has not begun; whether that is so.
    private func changeScheduled(_ chance: inout Chance) -> Bool {
        guard scenario.hasSchedule else { return false }
        let campaign = known.index.campaign(Self.campaignName)
        if let mark = campaign?.progress?.audience, let users = publishing.audiences[mark] {
            // What was wanted may have come too late.
            publishing.first = users.min() ?? 0
            publishing.recipients = max(publishing.recipients, (users.max() ?? 0) + 1)
        }
        guard let campaign, campaign.definition != nil else { return !publishing.isFinishing }
        guard campaign.isScheduled(at: moment.wall), !publishing.isFinishing, chance.below(3) > 0 else { return false }
        if chance.below(2) == 0 { publishing.texts += 1 }
        if chance.below(2) == 0 {
            publishing.first = min(publishing.recipients - 1, publishing.first + chance.below(3))
            publishing.recipients += chance.below(3)
        }
        return true
    }

    private func start(_ chance: inout Chance) -> StartTime? {
        let start = CampaignStart(at: moment.wall.advanced(by: .milliseconds(chance.between(1_000, 60_000))), offset: 0)
        let isNew = known.index.campaign(Self.campaignName)?.definition == nil
        return isNew ? .at(start) : chance.pick([.at(start), .at(start), .atOnce, nil])
    }

    /// Writes an operator's order for the campaign.
    func write(_ order: ControlOrder) {
        followCampaigns()
        guard let campaign = known.index.campaign(Self.campaignName),
            case .write(let decided) = order.decision(
                for: campaign, isFinished: false, at: moment.wall, by: "somebody", reason: nil)
        else { return }
        let (key, value) = decided.record(order, of: Self.campaignName)
        let place = place(ofControl: key)
        guard isReachable(place) else { return }
        switch decided {
        case .state(var control):
            // Without a limit from now on: otherwise a campaign whose events all fail would be paused for ever.
            if order == .resume { control.pauseIfFailures = nil }
            log("somebody says that the campaign is \(control.state)")
            append(control, under: key)
        case .go(let go): pass(go, LogRecord(key: key, value: value, timestamp: now), at: place)
        }
    }

    /// Writes an operator's word that the campaign goes on, who has seen exactly as many as its hold says.
    private func pass(_ go: CampaignGo, _ record: LogRecord, at place: Place) {
        log("somebody lets the campaign pass its hold at \(go.passed)")
        if publishing.published.count != go.passed, !publishing.isCut {
            checkers.fail("the campaign waits at \(go.passed), and \(publishing.published.count) are published")
        }
        publishing.passedHold = go.passed
        _ = cluster.append(record, to: place)
        wake(place)
    }

    func pausePublishing() {
        guard !publishing.isFinishing else { return }
        write(.pause)
        schedule(.resumePublishing, after: self[Self.operators][.jobFault].between(100, 60_000))
    }

    func resumePublishing() { write(.resume) }

    /// A publisher is about to record the campaign's state: an operator may record another one at this moment.
    func publisherDecides() {
        if self[Self.operators][.jobFault].happens(scenario.publisherFaults * 20_000) { pausePublishing() }
    }

    func performPublisherFault() {
        guard !publishing.isFinishing else { return }
        let running = publishers.filter { $0.isRunning && $0.frozenUntil == nil }
        let kind = self[Self.operators][.jobFault].below(20)
        disturbAudiences()
        guard kind > 3, !running.isEmpty else {
            if !takeUp() { startPublisher() }
            return
        }
        let publisher = self[Self.operators][.jobFault].pick(running)
        switch kind {
        case 4, 5: publisher.kill()
        case 6: publisher.stop()
        case 7, 8: publisher.freeze()
        case 9, 10, 11, 12: pausePublishing()
        case 13, 18: write(.resume)
        case 14: if self[Self.operators][.jobFault].below(3) == 0 { write(.cancel) }
        case 15:
            log("another process claims the name of publishers")
            _ = cluster.initialise(Self.operators.member)
            cluster.rivalled.insert(Self.operators.member)
            announceDecided()
        case 16:
            let place = self[Self.operators][.jobFault].pick(campaignsPlaces)
            loseLeader(place, for: self[Self.operators][.jobFault].between(500, 20_000))
        case 17:
            let topic = self[Self.operators][.jobFault].pick([campaignsTopic ?? 0, requestTopic])
            refuseJobs(topic, for: self[Self.operators][.jobFault].between(500, 15_000))
            // An operator sees that.
            schedule(.pausePublishing, after: self[Self.operators][.jobFault].between(100, 5_000))
        default:
            let isControl = self[Self.operators][.openTransaction].below(2) == 0
            openBeside(self[Self.operators][.openTransaction].pick(isControl ? campaignsPlaces : requestPlaces))
        }
    }

    /// Opens another program's transaction among the campaign's records, which hides them.
    private func openBeside(_ place: Place) {
        let isControl = place.topic == campaignsTopic
        let transaction = cluster.openForeign(commits: isControl)
        let control = CampaignControl(state: .running, at: moment.wall, by: "somebody")
        let record = LogRecord(
            key: CampaignControl.key(of: "other"), value: isControl ? control.encoded() : nil, timestamp: now)
        _ = cluster.writeForeign(record, to: place, in: transaction)
        log("a transaction is open in \(cluster.name(place))")
        schedule(
            .publisherEnds(transaction: transaction), after: self[Self.operators][.openTransaction].between(500, 12_000)
        )
    }

    func publisherEnded(_ end: PublicationEnd) {
        switch end {
        case .complete, .cancelled, .expired: if publishing.isFinishing { publishing.isDone = true }
        case .interrupted, .failed: if publishing.isFinishing, isPublishingHopeless { publishing.isDone = true }
        case .failing, .outcomeTimeout, .takenOver, .detached: break
        }
    }

    /// Events of the campaign were deleted: it is never complete.
    private var isPublishingHopeless: Bool {
        publishing.isCut || checkers.duties.contains { $0.campaign == Self.publishedCampaign && $0.isGone }
    }

    /// Notes that records of the campaign's topic are deleted.
    func cutPublishing(_ deleted: some Sequence<LogRecord>) {
        if deleted.contains(where: isOfPublished) { publishing.isCut = true }
    }

    /// Publishes the campaign to its end, once there are no more faults.
    func finishPublishing() {
        guard !publishing.isDone else { return }
        defer { schedule(.finishPublishing, after: 10_000) }
        publishing.isFinishing = true
        followCampaigns()
        if known.index.campaign(Self.campaignName)?.state == .cancelled, !publishers.contains(where: \.isRunning) {
            publishing.isDone = true
            return
        }
        write(.resume)
        let running = publishers.filter(\.isRunning)
        // It would wait for outcomes that never come.
        if isPublishingHopeless { for publisher in running { publisher.stop() } }
        guard running.isEmpty else { return }
        let status = knownStatus
        let isLeft = status?.isDetached ?? false && publishing.damaged.isEmpty && !hasExpired(at: moment.wall)
        // A runner takes it up some time after its last publisher was heard of.
        if isLeft, status?.isToBeTakenUp == false { return }
        publishing.lastStarts += 1
        guard publishing.lastStarts <= Self.mostLastStarts else {
            return checkers.fail("\(Self.mostLastStarts) publishers in a row have not published what is left")
        }
        if !isLeft || !takeUp() { startPublisher() }
    }
}
