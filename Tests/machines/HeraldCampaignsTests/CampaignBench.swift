import Foundation
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldText
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldCampaigns

/// Topics in memory, workers whose outcomes a test chooses, and publishers of one campaign on them.
final class CampaignBench {
    /// The outcome of the next commits.
    enum Commit {
        case made
        /// It is made, and its acknowledgement is lost.
        case madeInDoubt
        /// It is lost before it reaches the broker.
        case lostInDoubt
        case refused(KafkaError)
        /// No broker answers this attempt or a later one.
        case unanswered
        /// The answer waits until the test gives it.
        case held
    }

    /// One process.
    final class Publisher {
        fileprivate(set) var machine: CampaignMachine
        fileprivate(set) var actions: [CampaignMachine.Action] = []
        fileprivate(set) var news: [String] = []
        fileprivate(set) var done: [String] = []
        fileprivate var reports: [BatchWriter.Report] = []
        fileprivate var answers: [CampaignMachine.Action] = []
        fileprivate var epoch = 0
        fileprivate var open: [OutgoingRecord] = []
        fileprivate var line = 0
        fileprivate var isGathering = false
        fileprivate var sequence: UInt64 = 0
        /// It knows that the campaign is paused or cancelled.
        fileprivate var isHeld = false

        fileprivate init(_ machine: CampaignMachine) { self.machine = machine }
    }

    static let name = "spring"
    static let topic = "notifications.bulk"
    private static let wall = WallTime(milliseconds: Samples.start)
    private let ids = RecipientIDs(campaign: name)

    var order: CampaignOrder
    var audience: [String]
    /// Who is left out of it.
    var excluded: Set<String> = []
    var context: CampaignContext
    var now = MonotonicTime(nanoseconds: 0)
    /// How far the wall clock is ahead.
    var clockError: Milliseconds = .zero

    // The durable state.
    private(set) var published: [String] = []
    private var notified: Set<String> = []
    private(set) var index = CampaignIndex()
    /// What a transaction of others lets publishers read of the campaigns topic, as long as it is open.
    var readable: CampaignIndex?
    private(set) var audits: [String] = []
    /// The number of recipients in each transaction.
    private(set) var batches: [Int] = []
    /// The number of progress records.
    private(set) var signs = 0

    var outcomes: [String: Int] = [:]
    /// Whether published events are delivered at once.
    var delivers = true
    var commits: [Commit] = []
    var retries: RetryBacklog.Count?
    var trouble: String?
    /// The failures of the next reads, by the action's name.
    var failures: [String: ToolFailure] = [:]
    private var epoch = 0

    init(_ count: Int, _ change: (inout CampaignOrder) -> Void = { _ in }) throws {
        audience = (0..<count).map { "user\($0)" }
        order = CampaignOrder(
            text: CampaignText(
                name: Self.name, template: try ContentTemplate("Hi"), pushServices: ["apns"],
                maximumEventBytes: 65_536, users: .tag),
            topic: Self.topic)
        context = CampaignContext(
            topics: Topics(), readerProperties: [], writerProperties: [], controlProperties: [],
            operatorName: "ann@web1")
        change(&order)
    }

    var moment: Moment {
        Moment(
            monotonic: now, wall: Self.wall.advanced(by: .milliseconds(now.nanoseconds / 1_000_000) + clockError))
    }

    func id(_ user: String) -> RecipientID {
        let bytes = Array(user.utf8)
        return ids.id(of: bytes.span.bytes)
    }

    var campaign: CampaignIndex.Campaign? { index.campaign(Self.name) }

    /// The kind of the reason for a publisher's wait.
    func waits(_ publisher: Publisher) -> JobWaitReason.Kind? { publisher.machine.waiting(now: moment)?.kind }

    // MARK: Actions of others

    /// Starts a new process with the current audience.
    func start() -> Publisher {
        var recipients = RecipientSet()
        var mark = AudienceMark()
        var beginsWith: String?
        var count = 0
        for user in audience where !user.isEmpty {
            let isExcluded = excluded.contains(user)
            guard recipients.insert(id(user), isExcluded ? .excluded : .seen).isEmpty, !isExcluded else { continue }
            mark.add(id(user))
            count += 1
            if count == campaign?.progress?.recipients, campaign?.progress?.audience == mark.text {
                beginsWith = mark.text
            }
        }
        return Publisher(
            CampaignMachine(
                AudiencePublication(
                    order, context,
                    audience: AudiencePublication.AudienceCounts(
                        recipients: count, mark: mark.text,
                        excluded: order.exclusions == nil ? [] : [recipients.count - count], beginsWith: beginsWith,
                        comparedTo: campaign?.progress?.audience),
                    process: 7, recipients: recipients),
                writer: BatchWriter.Configuration(transactionTimeout: .seconds(10))))
    }

    func write(_ key: String, _ value: [UInt8]) { index.add(key: Array(key.utf8), value: value, place: "0:0") }

    /// An operator's order.
    func control(_ state: CampaignControl.State, cause: CampaignControl.Cause? = nil) {
        let control = CampaignControl(
            state: state, at: moment.wall, by: "bob@desk", pauseIfFailures: campaign?.control?.pauseIfFailures,
            cause: cause)
        write(state == .cancelled ? "\(Self.name)/cancelled" : Self.name, control.encoded())
    }

    /// Lets another publisher claim the name.
    func claimByAnother() { epoch += 1 }

    func forgetPublished(_ count: Int) { published.removeFirst(count) }

    // MARK: Steps

    /// Carries out one action, or takes a turn if none is left; returns whether the process lives.
    @discardableResult
    func step(_ publisher: Publisher) -> Bool {
        guard isAlive(publisher) else { return false }
        if publisher.actions.isEmpty {
            turn(publisher)
        } else {
            perform(publisher.actions.removeFirst(), publisher)
        }
        return isAlive(publisher)
    }

    /// Whether the process has something left to do.
    func isAlive(_ publisher: Publisher) -> Bool { !publisher.machine.isOver || !publisher.actions.isEmpty }

    /// Takes a turn; the wanted actions are queued.
    func turn(_ publisher: Publisher) {
        deliver(to: publisher)
        publisher.machine.advance(now: moment)
        publisher.actions += publisher.machine.takeActions()
    }

    /// Whether a process has actions that do not wait for time.
    private func isBusy(_ publisher: Publisher) -> Bool {
        !publisher.actions.isEmpty || !publisher.reports.isEmpty || !publisher.answers.isEmpty
            || publisher.isGathering
    }

    /// Works until nothing more happens at this moment.
    func settle(_ publisher: Publisher) {
        for _ in 0..<100_000 {
            // An order or an outcome may have arrived.
            if !isBusy(publisher) { turn(publisher) }
            guard isBusy(publisher), isAlive(publisher) else { return }
            step(publisher)
        }
        Issue.record("it does not come to rest")
    }

    /// Lets time pass, with the process working whenever it asks to.
    func pass(_ milliseconds: Int64, _ publisher: Publisher) {
        let end = now.advanced(by: .milliseconds(milliseconds))
        for _ in 0..<100_000 {
            settle(publisher)
            guard let next = publisher.machine.nextWake, next <= end, !publisher.machine.isOver else { break }
            if next <= now, next != .distantPast { Issue.record("it wants to work at \(now), and does not") }
            now = max(now, next)
        }
        now = end
        settle(publisher)
    }

    /// Works to the end.
    @discardableResult
    func run(_ publisher: Publisher) -> PublicationEnd? {
        for _ in 0..<10_000 where !publisher.machine.isOver { pass(500, publisher) }
        return publisher.machine.end
    }

    func stop(_ publisher: Publisher, by name: String = "ann", handsOver: Bool = false) {
        publisher.machine.stop(by: name, handsOver: handsOver, now: moment)
        publisher.actions += publisher.machine.takeActions()
    }

    func fail(_ failure: ToolFailure, _ publisher: Publisher) { publisher.machine.failed(failure, now: moment) }

    /// Reports that a topic has more partitions than the process knows.
    func grow(_ publisher: Publisher) { publisher.machine.grown(now: moment) }

    /// Answers the commit under way.
    func answer(_ publisher: Publisher) {
        commit(publisher.open, publisher, sequence: publisher.sequence)
    }

    private func deliver(to publisher: Publisher) {
        let reports = publisher.reports
        publisher.reports = []
        for report in reports { publisher.machine.receive(report, now: moment) }
        let answers = publisher.answers
        publisher.answers = []
        for answer in answers { self.answer(answer, publisher) }
        switch publisher.machine.phase.name {
        case .placing, .readingBack, .counting: publisher.machine.campaignSeen(campaign, now: moment)
        case .opening, .publishing, .closing:
            publisher.machine.campaignSeen((readable ?? index).campaign(Self.name), now: moment)
            publisher.isHeld = (campaign?.state ?? .running) != .running
            tellOutcomes(publisher)
        case .idle, .looking, .watching, .claiming, .learning, .finishing, .resting, .ended: break
        }
        guard publisher.isGathering else { return }
        publisher.isGathering = false
        while publisher.machine.wantsRecipient {
            guard publisher.line < audience.count else {
                publisher.machine.audienceEnded()
                continue
            }
            let user = Array(audience[publisher.line].utf8)
            publisher.line += 1
            if user.isEmpty {
                publisher.machine.passLine()
            } else {
                publisher.machine.take(id(audience[publisher.line - 1]), user: user, event: user)
            }
        }
    }

    private func tellOutcomes(_ publisher: Publisher) {
        let count = OutcomeCount(snapshot: outcomes)
        publisher.machine.outcomesRead(count, positions: [0: Int64(count.known)], now: moment)
    }

    private func answer(_ action: CampaignMachine.Action, _ publisher: Publisher) {
        if let failure = failures.removeValue(forKey: Self.word(action)) {
            return publisher.machine.failed(failure, now: moment)
        }
        switch action {
        case .readCampaigns: publisher.machine.learned(index, now: moment)
        case .findEnds: publisher.machine.endsFound(requests: ["0": 0], results: ["0": 0], now: moment)
        case .readBack:
            for user in published { publisher.machine.foundPublished(id(user)) }
            publisher.machine.readBack(now: moment)
        case .countOutcomes(_, let progress, let isWhole):
            if isWhole {
                tellOutcomes(publisher)
            } else {
                let count = OutcomeCount(snapshot: progress?.outcomes ?? [:])
                publisher.machine.outcomesRead(count, positions: [:], now: moment)
            }
            publisher.machine.outcomesCaughtUp(now: moment)
        case .readLastOutcomes:
            tellOutcomes(publisher)
            publisher.machine.outcomesCaughtUp(now: moment)
        case .countRetries: publisher.machine.answered(retries: retries, now: moment)
        case .askWorkers: publisher.machine.answered(trouble: trouble, now: moment)
        case .openAudience, .write, .readRecipients, .notice: break
        }
    }

    private func perform(_ action: CampaignMachine.Action, _ publisher: Publisher) {
        publisher.done.append(Self.word(action))
        switch action {
        case .write(.claim):
            epoch += 1
            (publisher.epoch, publisher.open, publisher.line, publisher.isGathering) = (epoch, [], 0, false)
            publisher.reports = [.transaction(.ready(lateClaims: 0))]
            publisher.answers = []
        case .write(.produce(let records)):
            let isBatch = records.contains { $0.topic == Self.topic }
            if isBatch, publisher.isHeld { Issue.record("recipients are published although the campaign is held") }
            publisher.open = records
            publisher.reports.append(.produced)
        case .write(.commit(let sequence, _)):
            publisher.sequence = sequence
            commit(publisher.open, publisher, sequence: sequence)
        case .write(.abort): publisher.reports.append(.transaction(.aborted(nil, .acknowledged)))
        case .openAudience:
            publisher.line = 0
            publisher.answers.append(action)
        case .readRecipients: publisher.isGathering = true
        case .notice(let news): publisher.news.append(Self.word(news))
        case .readCampaigns, .findEnds, .readBack, .countOutcomes, .readLastOutcomes, .countRetries, .askWorkers:
            publisher.answers.append(action)
        }
    }

    private func commit(_ records: [OutgoingRecord], _ publisher: Publisher, sequence: UInt64) {
        func report(_ error: KafkaError?, _ outcome: TransactionOutcome) {
            publisher.reports.append(.transaction(.committed(sequence: sequence, error, outcome)))
        }
        guard publisher.epoch == epoch else { return report(.fence, .fatal(isFenced: true)) }
        let commit = commits.isEmpty ? .made : commits.removeFirst()
        switch commit {
        case .made:
            apply(records)
            report(nil, .acknowledged)
        case .madeInDoubt:
            apply(records)
            report(.timeOut, .abortable)
        case .lostInDoubt: report(.timeOut, .abortable)
        case .refused(let error):
            publisher.reports.append(.undelivered(error))
            report(KafkaError(code: error.code, isAbortable: true), .abortable)
        case .unanswered:
            commits.insert(.unanswered, at: 0)
            report(.timeOut, .failedForNow)
        case .held: break
        }
    }

    private func apply(_ records: [OutgoingRecord]) {
        var count = 0
        for record in records {
            let key = String(decoding: record.key ?? [], as: UTF8.self)
            switch record.topic {
            case Self.topic:
                if !notified.insert(key).inserted { Issue.record("\(key) is notified twice") }
                published.append(key)
                count += 1
            case context.topics.campaigns:
                write(key, record.value ?? [])
                if key.hasSuffix("/progress") { signs += 1 }
            default:
                let entry = record.value.flatMap { try? JSONDecoder().decode(AuditEntry.self, from: Data($0)) }
                let words = [entry?.phase, entry?.end, entry?.tookOverFrom.map { "over \($0)" }]
                audits.append(words.compactMap(\.self).joined(separator: " "))
            }
        }
        if count > 0 { batches.append(count) }
        if delivers { outcomes["delivered", default: 0] += count }
    }

    private static func word(_ action: CampaignMachine.Action) -> String {
        switch action {
        case .write(.claim): "claim"
        case .write(.produce(let records)): "produce \(records.count)"
        case .write(.commit): "commit"
        case .write(.abort): "abort"
        case .readCampaigns: "campaigns"
        case .findEnds: "ends"
        case .readBack: "published"
        case .countOutcomes(_, _, let isWhole): isWhole ? "outcomes" : "outcomes on"
        case .openAudience: "audience"
        case .readRecipients: "recipients"
        case .readLastOutcomes: "last outcomes"
        case .countRetries: "retries"
        case .askWorkers: "workers"
        case .notice(let news): "notice \(word(news))"
        }
    }

    private static func word(_ news: PublishNews) -> String {
        switch news {
        case .continues(let count): "continues \(count)"
        case .paused(let control): "paused\(control?.isByFailures ?? false ? " by failures" : "")"
        case .resumed: "resumed"
        case .unreachable: "unreachable"
        case .step(let number): "step \(number)"
        case .goesOnWithout(let open, let step): "step \(step) without \(open)"
        case .allPublished: "all"
        case .held(let count, _): "held \(count)"
        }
    }
}

extension CampaignBench.Publisher {
    /// The end of the publication, if it has ended.
    var end: PublicationEnd? { machine.end }
    var phase: PublicationPhase.Name { machine.phase.name }
    var progress: PublishProgress { machine.progress }
}

extension KafkaError {
    static let timeOut = KafkaError(code: Code.timedOut)
    static let fence = KafkaError(code: Code.fenced, isFatal: true)
}
