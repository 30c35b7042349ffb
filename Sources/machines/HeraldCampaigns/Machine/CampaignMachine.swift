package import HeraldDriver
internal import HeraldEvents
package import HeraldKafka
internal import HeraldKernel
package import HeraldTime
internal import HeraldTools

/// Publishes a campaign to its end, or until something ends it: pure.
///
/// It claims the campaign's name, reads what is published, says that it publishes, and goes through the audience from
/// its beginning. After any trouble of a transaction or of reading it starts again in the same way, as another process
/// would after a kill. ``RecipientBatch`` is what is published together, ``CampaignPace`` says when how many may go,
/// ``BatchWriter`` how a transaction becomes durable, and ``Phase`` has the rest.
package struct CampaignMachine: JobMachine {
    /// What it wants done; each that reads may come to ``failed(_:now:)``.
    package enum Action: Sendable {
        case write(BatchWriter.Action)
        /// Reads the campaigns topic: ``learned(_:now:)``. From then on ``campaignSeen(_:now:)`` tells what it says of
        /// this campaign.
        case readCampaigns(to: TopicReader.End)
        /// Finds the ends of the request topic and of the results topic: ``endsFound(requests:results:now:)``.
        case findEnds
        /// Reads the campaign's request topic from its beginning: ``foundPublished(_:)`` for each event of the campaign,
        /// ``readBack(now:)`` at the end.
        case readBack(CampaignDefinition, to: TopicReader.End)
        /// Begins to count outcomes, from where a former publisher came to; `isWhole` to the present end:
        /// ``outcomesRead(_:positions:)``, and ``outcomesCaughtUp(now:)`` once.
        case countOutcomes(CampaignDefinition, after: CampaignProgress?, isWhole: Bool)
        /// Begins to read the audience, for events with this expiry (epoch milliseconds).
        case openAudience(expiresAt: Int64?)
        /// Reads on in the audience, as long as ``wantsRecipient``.
        case readRecipients
        /// Goes on counting outcomes: ``outcomesCaughtUp(now:)`` at the end.
        case readLastOutcomes(to: TopicReader.End)
        /// Counts what waits in the retry topics: ``answered(retries:now:)``.
        case countRetries
        /// Asks why workers do not deliver: ``answered(trouble:now:)``.
        case askWorkers
        case notice(PublishNews)
    }

    /// The audience, as a preview has found it.
    package struct AudienceCounts: Sendable {
        package var recipients: Int
        package var repeats: Int
        package var invalid: Int
        package var mark: String
        package var beginsWith: String?
        package var comparedTo: String?

        package init(
            recipients: Int, repeats: Int = 0, invalid: Int = 0, mark: String, beginsWith: String? = nil,
            comparedTo: String? = nil
        ) {
            self.recipients = recipients
            self.repeats = repeats
            self.invalid = invalid
            self.mark = mark
            self.beginsWith = beginsWith
            self.comparedTo = comparedTo
        }
    }

    /// What it keeps to.
    package struct Configuration: Sendable {
        package var context: CampaignContext
        package var order: CampaignOrder
        package var audience: AudienceCounts
        /// The number of the process, which its records say.
        package var process: Int32
        package var writer: BatchWriter.Configuration

        package init(
            context: CampaignContext, order: CampaignOrder, audience: AudienceCounts, process: Int32,
            writer: BatchWriter.Configuration
        ) {
            self.context = context
            self.order = order
            self.audience = audience
            self.process = process
            self.writer = writer
        }
    }

    /// What the transaction under way is about.
    enum Writing {
        case opening, batch, sign, pause, restoredPause, end
    }

    /// Before it begins again after trouble.
    static let restTime: Milliseconds = .seconds(1)
    /// So often in a row a broker may refuse a transaction, one that it has ended itself for instance.
    static let refusalLimit = 10
    /// So often a living publisher writes something.
    static let signInterval: Milliseconds = .seconds(5)

    let configuration: Configuration
    package internal(set) var phase = Phase.idle
    package internal(set) var progress: PublishProgress
    /// The recipients seen in the audience, and those whose events are published.
    var recipients: RecipientSet
    var writer: BatchWriter
    var batch = RecipientBatch()
    var actions: [Action] = []
    var writing: Writing?

    // What is known of the campaign since it was learned.
    var definition: CampaignDefinition?
    var former: CampaignProgress?
    var control: CampaignControl?
    var state = CampaignControl.State.running
    /// The control record that it wrote itself when it began.
    var ownStart: CampaignControl?
    /// The pause that this has taken the place of, because somebody wrote it meanwhile; it is written again.
    var overwrittenPause: CampaignControl?
    var hasRestoredPause = false
    var published: PublishedEvents?
    var replacements: [AudienceReplacement] = []
    /// What it is to say at its beginning.
    var opening = Words()
    var pace: CampaignPace?
    /// Up to where outcomes are counted.
    var positions: [Int32: Int64] = [:]
    /// When it was finished; a start that publishes nothing changes nothing of that.
    var finishedAt: Int64?
    /// Whether no recipient is left.
    var isComplete = false
    /// It has had the campaign paused, and judges it again then unless that is read before.
    var rejudges: MonotonicTime?
    var lastLook: LastLook?
    /// What keeps it from reading.
    var trouble: ToolFailure?
    /// It reads too few partitions.
    var isOutgrown = false

    var isStopping = false
    var hasOpened = false
    var refusals = 0
    var lastWrite = MonotonicTime.distantPast
    /// When there is something to do although nothing comes.
    private var workWake: MonotonicTime?

    /// A machine that begins with the first ``advance(now:)``.
    ///
    /// - Parameter recipients: those that the preview has marked; give the only copy away, because it may be large.
    package init(_ configuration: Configuration, recipients: consuming RecipientSet) {
        self.configuration = configuration
        self.recipients = recipients
        progress = PublishProgress(
            recipients: configuration.audience.recipients,
            outcomesPerEvent: configuration.order.text.pushServices.count)
        writer = BatchWriter(configuration.writer)
    }

    var name: String { order.text.name }
    var order: CampaignOrder { configuration.order }

    package var isOver: Bool { phase.name == .ended }

    /// How it ended; `nil` before.
    package var end: PublishEnd? { if case .ended(let end) = phase { end } else { nil } }

    /// Whether the campaign is paused or cancelled.
    var isHeld: Bool { state != .running }

    /// Whether the next line of the audience is wanted.
    package var wantsRecipient: Bool { batch.state == .gathering && trouble == nil }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    package var nextWake: MonotonicTime? {
        var moments = [writer.nextWake]
        switch phase {
        case .idle: moments.append(.distantPast)
        case .resting(let end): moments.append(end)
        case .publishing, .paused:
            moments.append(workWake)
        case .closing: moments.append(lastLook?.wake)
        case .claiming, .learning, .placing, .readingBack, .counting, .opening, .finishing, .ended: break
        }
        return moments.compactMap { $0 }.min()
    }

    /// When the events expire.
    func expiry(_ now: Moment) -> MonotonicTime? {
        definition?.expiresAt.map { now.monotonic.advanced(by: .milliseconds($0 - now.wall.milliseconds)) }
    }

    var nextSign: MonotonicTime? {
        state == .cancelled ? nil : lastWrite.advanced(by: Self.signInterval)
    }

    package mutating func advance(now: Moment) {
        writer.advance(now: now.monotonic)
        follow(now)
        switch phase {
        case .idle: claim(now)
        case .resting(let end): if end <= now.monotonic { claim(now) }
        case .publishing, .paused:
            work(now)
            workWake = [pace?.nextWake, nextSign, rejudges, expiry(now)].compactMap { $0 }.filter { $0 > now.monotonic }
                .min()
        case .closing(let end): if let lastLook, lastLook.wake <= now.monotonic { writeEnd(end, now) }
        case .claiming, .learning, .placing, .readingBack, .counting, .opening, .finishing, .ended: break
        }
        takeWriterActions()
    }
}
