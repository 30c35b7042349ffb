import HeraldBytes
import HeraldCampaigns
import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldTime
import HeraldTools

/// One process that publishes the campaign: the machine of a real one, over simulated readers, a producer and an audience.
final class SimulatedCampaign: SimulatedJob {
    /// The arguments of its start.
    struct Assignment {
        var context: CampaignContext
        var order: CampaignOrder
        /// The user of each line of the audience; `nil` for a line that is no recipient.
        var lines: [Int?]
        /// Who is left out of them.
        var excluded = ExcludedPeople()
        /// Whether its operator wants another moment, text or audience than the campaign has.
        var isChange = false
        /// What a runner has found, which takes it up; `nil` for an operator's start.
        var takesUp: CampaignDefinition?

        var message: String { order.text.template.message }
    }

    /// The state from one claim to the next.
    private struct Stretch {
        var reading: Reading?
        var published: LogReader?
        var outcomes: (reader: LogReader, count: OutcomeCount)?
        var answers: [Answer] = []
        /// The known partitions, and the next look for others.
        var partitions = 0
        var nextPartitions: Int64 = 0
        /// The next line of the audience.
        var line = 0
        var isGathering = false
    }

    /// A reading to an end.
    private enum Reading {
        case campaigns(LogReader)
        case published
        case outcomes
        case ends
    }

    /// An answer that waits for the machine.
    private enum Answer {
        case caughtUp
        case retries(RetryBacklog.Count?)
        case failure(ToolFailure)
    }

    static let turn: Int64 = 250
    /// The longest time between two attempts at a transaction (milliseconds).
    private static let longestPause: Int64 = 2_500
    /// The interval of looks for new partitions.
    private static let partitionsInterval: Int64 = 60_000

    unowned let simulation: Simulation
    let index: Int
    var driver: JobDriver<SimulatedCampaign>?
    var client = TransactionClient()
    var produced: Set<ProductionID> = []
    var run = JobRun()
    /// How far its wall clock is ahead of the true time (milliseconds).
    private var clockError: Int64 = 0
    /// The definition that it has written since its claim: others may not be able to read it yet.
    private var written: CampaignDefinition?
    /// The latest moment that its wall clock has shown in this life.
    private var latest = WallTime(milliseconds: 0)
    /// Whether it has offered events in this life.
    private var hasOffered = false
    /// The mark of the audience that its own was compared with.
    private var comparedTo: String?

    private var assignment: Assignment?
    private let ids = RecipientIDs(campaign: Simulation.campaignName)
    private var form: EventForm?
    private var stretch = Stretch()
    private var steps = StepChecker(ramp: [], services: 1)
    private var holds: [Int] = []
    /// The campaign's state that it heard last.
    private var toldState = CampaignControl.State.running
    private var toldAt: Int64 = 0
    private var hasOpened = false
    /// The campaign's state when it began to publish.
    private var stateAtStart = CampaignControl.State.running

    init(index: Int, simulation: Simulation) {
        self.index = index
        self.simulation = simulation
    }

    var process: Process { Process(.publisher, index, life: life) }
    var now: Moment {
        let moment = simulation.moment
        return Moment(monotonic: moment.monotonic, wall: moment.wall.advanced(by: .milliseconds(clockError)))
    }

    /// What its operator had seen of the campaign.
    var replaces: CampaignDefinition? { assignment?.takesUp ?? assignment?.order.replaces }
    private var isRunner: Bool { assignment?.takesUp != nil }

    // MARK: Life and death

    /// Starts it, as an operator.
    func start(_ assignment: Assignment) {
        self.assignment = assignment
        (form, stretch, hasOffered, written, latest) = (nil, Stretch(), false, nil, now.wall)
        (toldState, stateAtStart, hasOpened) = (.running, .running, false)
        begin {
            log("is to publish to \(Set(assignment.lines).count) recipients, ramp \(assignment.order.ramp ?? [])")
            return machine(assignment)
        }
    }

    private var known: CampaignIndex.Campaign? { simulation.known.index.campaign(Simulation.campaignName) }
    private var knownProgress: CampaignProgress? { known?.progress }

    private func machine(_ assignment: Assignment) -> CampaignMachine {
        let former = knownProgress
        comparedTo = former?.audience
        let users = assignment.lines.compactMap { $0 }
        var recipients = RecipientSet()
        var mark = AudienceMark()
        var beginsWith: String?
        var count = 0
        for user in users {
            let isExcluded = assignment.excluded.reason(for: id(of: user)) != nil
            guard recipients.insert(id(of: user), isExcluded ? .excluded : .seen).isEmpty, !isExcluded else { continue }
            mark.add(id(of: user))
            count += 1
            if count == former?.recipients, former?.audience == mark.text { beginsWith = mark.text }
        }
        simulation.publishing.audiences[mark.text] = people(of: assignment)
        let choices = Choices(seed: simulation.scenario.seed)
        return CampaignMachine(
            AudiencePublication(
                assignment.order, assignment.context,
                audience: AudiencePublication.AudienceCounts(
                    recipients: count, repeats: users.count - recipients.count,
                    invalid: assignment.lines.count - users.count, mark: mark.text,
                    excluded: assignment.order.exclusions == nil ? [] : [recipients.count - count],
                    beginsWith: beginsWith,
                    comparedTo: comparedTo),
                process: Int32(index), recipients: recipients),
            writer: BatchWriter.Configuration(
                transactionTimeout: Simulation.transactionTimeout,
                patience: choices.pick([.minutes(1), .seconds(12)], for: "publisher.patience")))
    }

    /// Whom it is to publish.
    private func people(of assignment: Assignment?) -> Set<Int> {
        guard let assignment else { return [] }
        return Set(assignment.lines.compactMap(\.self)).filter { assignment.excluded.reason(for: id(of: $0)) == nil }
    }

    private func id(of user: Int) -> RecipientID { ids.id(of: Self.key(of: user).span.bytes) }
    private static func key(of user: Int) -> [UInt8] { Array("user-\(user)".utf8) }

    func ended(_ machine: CampaignMachine) {
        let end = machine.end ?? .interrupted
        log("ends: \(end)")
        if let objection = objection(to: end) { misuse("it ends: \(end.name(.recipients)), \(objection)") }
        if end == .complete { simulation.checkComplete(people(of: assignment), by: process) }
        self.end()
        simulation.publisherEnded(end)
    }

    /// Whether no other process has claimed its name since it did.
    private var hasName: Bool { simulation.cluster.producers[Process(.publisher, 0).member]?.epoch == client.epoch }

    private func objection(to end: PublicationEnd) -> String? {
        switch end {
        case .complete: nil
        case .interrupted: run.isStopping ? nil : "and nobody told it to stop"
        case .detached:
            assignment?.order.detaches == true || (isRunner && run.isStopping)
                ? nil : "and nobody else has its audience"
        case .failing: assignment?.order.endsWhenPausedByFailures == true ? nil : "and it is to wait"
        case .outcomeTimeout: "which no campaign has"
        case .cancelled: toldState == .cancelled ? nil : "and the campaign is not"
        case .expired: simulation.hasExpired(at: latest) ? nil : "and the campaign is not"
        case .takenOver:
            simulation.cluster.rivalled.contains(Process(.publisher, 0).member) ? nil : "and nobody has its name"
        // A publisher that stood still while others published may miss their records, and cannot write.
        case .failed(let failure) where failure.isOfAnotherStart:
            comparedTo == knownProgress?.audience && (replaces == known?.definition || !simulation.scenario.hasSchedule)
                ? "and it was compared to the audience of that" : nil
        // The campaign has begun, or another operator has changed it, before this one had its name.
        case .failed(let failure)
        where failure.isOfAnotherCampaign && (simulation.scenario.hasSchedule || simulation.scenario.hasExclusions):
            assignment?.isChange == false && replaces == known?.definition
                && assignment?.order.exclusions == known?.definition?.exclusions ? failure.description : nil
        case .failed(let failure):
            stateAtStart == .running && hasName && !(simulation.publishing.isCut && failure.isOfDeletion)
                ? failure.description : nil
        }
    }

    // MARK: Inputs

    var hasNews: Bool { !stretch.answers.isEmpty }

    /// A reading continues, or outcomes are read as they come.
    var isLooking: Bool { stretch.reading != nil || driver?.machine.phase.isFollowing ?? false }

    func take(_ news: JobNews) -> Bool {
        misuse("that is another job's")
        return false
    }

    // MARK: What the machine wants

    func perform(_ action: CampaignMachine.Action) {
        guard isRunning else { return }
        // Between any two actions.
        if chance[.jobKill].happens(simulation.publishing.isFinishing ? 0 : simulation.scenario.publisherKills) {
            return kill()
        }
        switch action {
        case .write(let action): perform(action)
        case .readCampaigns(let end):
            stretch.partitions = simulation.cluster.partitions
            stretch.nextPartitions = simulation.now + Self.partitionsInterval
            read(.campaigns(LogReader(simulation.campaignsPlaces)), to: end)
        case .findEnds: read(.ends, to: .written)
        case .readBack(let definition, let end):
            let starts = definition.requestStarts
            stretch.published = LogReader(requestPlaces) { [simulation] place in
                let start = starts[Int32(place.partition)] ?? 0
                // The partition ends before that offset: it was recreated, and is read completely.
                return start > simulation.cluster[place].end ? 0 : start
            }
            read(.published, to: end)
        case .countOutcomes(let definition, let progress, let isWhole):
            let starts = progress?.resultStarts ?? definition.resultStarts
            stretch.outcomes = (
                LogReader(resultPlaces) { starts[Int32($0.partition)] ?? 0 },
                OutcomeCount(snapshot: progress?.outcomes ?? [:])
            )
            if isWhole { read(.outcomes, to: .committed) } else { stretch.answers.append(.caughtUp) }
        case .openAudience(let expiresAt):
            stretch.line = 0
            hasOpened = true
            form = EventForm(
                campaign: Simulation.campaignName, pushServices: assignment?.order.text.pushServices ?? [],
                expiresAt: expiresAt)
        case .readRecipients:
            stretch.isGathering = true
            // Otherwise it takes until the next turn.
            if chance[.letters].below(4) > 0 { run.isBusy = true }
        case .readLastOutcomes(let end): read(.outcomes, to: end)
        case .countRetries:
            let isLost = chance[.jobQuestion].happens(simulation.scenario.lostMessages)
            stretch.answers.append(.retries(isLost ? nil : simulation.publishedRetries))
        case .askWorkers: misuse("nobody can tell it of workers")
        case .notice(let news): log("notice: \(news)")
        }
    }

    private func read(_ reading: Reading, to end: TopicReader.End) {
        if chance[.jobQuestion].happens(simulation.scenario.lostMessages / 10) {
            return stretch.answers.append(.failure(ToolFailure("no broker answers", kind: .unreachable)))
        }
        stretch.reading = reading
        switch reading {
        case .campaigns(var reader):
            reader.aim(at: end)
            stretch.reading = .campaigns(reader)
        case .published: stretch.published?.aim(at: end)
        case .outcomes: stretch.outcomes?.reader.aim(at: end)
        case .ends: break
        }
        run.isBusy = true
    }

    private var requestPlaces: [Place] { Array(simulation.requestPlaces.prefix(stretch.partitions)) }
    private var resultPlaces: [Place] { Array(simulation.resultPlaces.prefix(stretch.partitions)) }

    func beginsAnew() {
        if run.hasLostName { misuse("another publisher has its name, and it claims that again") }
        (stretch, written) = (Stretch(), nil)
    }

    func offers(_ records: [OutgoingRecord]) {
        let events = records.count { simulation.scenario.topics.requests.contains($0.topic) }
        let controls = records.count { $0.key?.elementsEqual(CampaignControl.key(of: Simulation.campaignName)) == true }
        if controls > 0 { simulation.publisherDecides() }
        if isRunner, simulation.progress(in: records)?.end == PublicationEnd.interrupted.name(.recipients) {
            misuse("it was stopped, and leaves the rest to nobody")
        }
        written = simulation.definition(in: records) ?? written
        guard events > 0 else { return }
        if assignment?.order.detaches == true {
            misuse("it publishes \(events) recipients, and is to leave them to others")
        }
        if simulation.publishing.published.isEmpty, !hasOffered,
            let start = (written ?? simulation.publishing.definition)?.start,
            now.wall < start.moment
        {
            misuse("it publishes \(start.moment.time(since: now.wall).count) ms before its campaign begins")
        }
        hasOffered = true
        if toldState != .running { misuse("the campaign is \(toldState), and it publishes \(events) recipients") }
        guard let progress = simulation.progress(in: records) else { return misuse("it publishes without progress") }
        let before = progress.published - events
        if let hold = holds.first(where: {
            $0 > simulation.publishing.passedHold && $0 >= before && $0 < progress.published
        }) {
            misuse("nobody has let it pass its hold at \(hold), and it publishes up to \(progress.published)")
        }
        let objection = steps.offers(events, after: progress.published - events, now: simulation.now)
        if let objection { misuse(objection) }
    }

    func written(_ record: OutgoingRecord) -> (place: Place, record: LogRecord)? {
        simulation.publishedRecord(record, at: now)
    }

    // MARK: What the machine gets

    func deliver(to machine: inout CampaignMachine) {
        run.isBusy = false
        stepClock()
        latest = max(latest, now.wall)
        checkCancellation(machine)
        if run.isStopping { machine.stop(by: "operator", handsOver: isRunner, now: now) }
        for report in run.takeReports() { machine.receive(report, now: now) }
        deliverAnswers(to: &machine)
        readOn(&machine)
        // Lines and orders come in any order.
        if stretch.isGathering, chance[.letters].below(2) == 0 { deliverRecipients(to: &machine) }
        if machine.phase.hearsOrders { followOrders(&machine) }
        if machine.phase.isFollowing, stretch.reading == nil {
            _ = countOutcomes()
            tellOutcomes(to: &machine)
        }
        deliverRecipients(to: &machine)
        guard simulation.now >= stretch.nextPartitions, simulation.cluster.awayUntil <= simulation.now else { return }
        stretch.nextPartitions = simulation.now + Self.partitionsInterval
        if stretch.partitions < simulation.cluster.partitions { machine.grown(now: now) }
    }

    /// Its wall clock jumps, as long as there are faults.
    private func stepClock() {
        guard simulation.scenario.hasSchedule else { return }
        if simulation.publishing.isFinishing {
            clockError = 0
        } else if chance[.clockStep].happens(stretch.isGathering ? 300_000 : 20_000) {
            clockError = chance[.clockStep].pick([0, -60_000, -3_000, 3_000, 30_000])
            log("its clock is \(clockError) ms ahead")
        }
    }

    /// After it has read that the campaign is cancelled, only a transaction under way delays its end.
    private func checkCancellation(_ machine: CampaignMachine) {
        guard toldState == .cancelled, machine.phase.name == .publishing, client.operation == nil,
            !client.isOpen,
            simulation.now - max(toldAt, run.lastWrite, run.thawedAt) > Self.longestPause
        else { return }
        misuse("the campaign is cancelled, and it goes on")
    }

    private func deliverAnswers(to machine: inout CampaignMachine) {
        let answers = stretch.answers
        stretch.answers = []
        for answer in answers {
            switch answer {
            case .caughtUp: caughtUp(&machine)
            case .retries(let count):
                steps.hears(count)
                machine.answered(retries: count, now: now)
            case .failure(let failure): machine.failed(failure, now: now)
            }
        }
    }

    private func caughtUp(_ machine: inout CampaignMachine) {
        tellOutcomes(to: &machine)
        if machine.phase.name == .counting { steps.begins(now: simulation.now) }
        machine.outcomesCaughtUp(now: now)
    }

    /// Reads on to the wanted end.
    private func readOn(_ machine: inout CampaignMachine) {
        switch stretch.reading {
        case .campaigns(var reader):
            let isAtEnd = reader.turn(simulation) { _, _ in }
            stretch.reading = isAtEnd ? nil : .campaigns(reader)
            guard isAtEnd else { return }
            learned(&machine)
        case .ends:
            guard let requests = simulation.ends(of: requestPlaces, .written),
                let results = simulation.ends(of: resultPlaces, .written)
            else { return }
            stretch.reading = nil
            machine.endsFound(requests: Self.byPartition(requests), results: Self.byPartition(results), now: now)
        case .published:
            let isAtEnd = stretch.published?.turn(simulation) { _, record in
                if let id = id(ofEvent: record) { machine.foundPublished(id) }
            }
            guard isAtEnd ?? true else { return }
            (stretch.reading, stretch.published) = (nil, nil)
            machine.readBack(now: now)
        case .outcomes:
            let isAtEnd = countOutcomes()
            tellOutcomes(to: &machine)
            guard isAtEnd else { return }
            stretch.reading = nil
            caughtUp(&machine)
        case nil: break
        }
    }

    private func learned(_ machine: inout CampaignMachine) {
        simulation.followCampaigns()
        let campaign = simulation.known.index.campaign(Simulation.campaignName)
        toldState = campaign?.state ?? .running
        if !hasOpened { stateAtStart = toldState }
        let order = assignment?.order
        steps = StepChecker(
            ramp: order?.ramp ?? campaign?.definition?.ramp ?? [], services: order?.text.pushServices.count ?? 1)
        holds = order?.holds ?? campaign?.definition?.holds ?? []
        machine.learned(simulation.known.index, now: now)
    }

    private static func byPartition(_ offsets: [Int64]) -> [String: Int64] {
        Dictionary(uniqueKeysWithValues: offsets.enumerated().map { ("\($0.offset)", $0.element) })
    }

    private func id(ofEvent record: LogRecord) -> RecipientID? {
        guard let key = record.key, let value = record.value else { return nil }
        return PublishedEvents.id(key: key.span.bytes, value: value.span.bytes, ids)
    }

    private func countOutcomes() -> Bool {
        guard var (reader, count) = stretch.outcomes else { return true }
        let services = assignment?.order.text.pushServices ?? []
        let isAtEnd = reader.turn(simulation) { _, record in
            guard simulation.isOfPublished(record), let value = record.value,
                let result = try? NotificationResult(decoding: value), result.campaign == Simulation.campaignName
            else { return }
            count.add(result, pushServices: services)
        }
        stretch.outcomes = (reader, count)
        return isAtEnd
    }

    private func tellOutcomes(to machine: inout CampaignMachine) {
        guard let (reader, count) = stretch.outcomes else { return }
        steps.hears(count)
        machine.outcomesRead(
            count,
            positions: Dictionary(
                uniqueKeysWithValues: reader.positions.enumerated().map { (Int32($0.offset), $0.element) }), now: now)
    }

    /// Reports the campaign's orders.
    private func followOrders(_ machine: inout CampaignMachine) {
        simulation.followCampaigns()
        let campaign = simulation.known.index.campaign(Simulation.campaignName)
        machine.campaignSeen(campaign, now: now)
        let state = campaign?.state ?? .running
        if machine.phase.name == .publishing, toldState == .paused, state == .running {
            steps.begins(now: simulation.now)
        }
        if state != toldState { (toldState, toldAt) = (state, simulation.now) }
        steps.allows(campaign?.control?.pauseIfFailures)
        if !hasOpened { stateAtStart = toldState }
    }

    private func deliverRecipients(to machine: inout CampaignMachine) {
        guard stretch.isGathering else { return }
        stretch.isGathering = false
        while machine.wantsRecipient {
            guard let lines = assignment?.lines, stretch.line < lines.count else {
                machine.audienceEnded()
                continue
            }
            stretch.line += 1
            guard let user = lines[stretch.line - 1] else {
                machine.passLine()
                continue
            }
            let key = Self.key(of: user)
            let message = assignment?.message ?? ""
            var event: [UInt8] = []
            form?.append(
                id(of: user), user: key.span.bytes, message: message.utf8.span.bytes, to: &event)
            machine.take(id(of: user), user: key, event: event)
        }
    }
}

extension ToolFailure {
    /// Some of the published events cannot be found any more.
    fileprivate var isOfDeletion: Bool { description.contains("does not hold any more") }
    /// It begins with something that differs.
    fileprivate var isOfAnotherCampaign: Bool {
        description.hasPrefix("there is a campaign \(Simulation.campaignName) already")
            || description.hasPrefix("campaign \(Simulation.campaignName) is not continued")
    }
    fileprivate var isOfAnotherStart: Bool {
        description == CampaignContinuation.outdated(Simulation.campaignName).description
    }
}
