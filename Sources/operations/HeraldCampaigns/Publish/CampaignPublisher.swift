internal import Glibc
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTools

/// Publishes a campaign to its end, or until something ends it; starting it again, anywhere, goes on with the rest.
///
/// Each time that it has lost touch with the brokers it begins anew, as if it had been killed: it claims the campaign's
/// name, reads what is published, and goes through the audience from its beginning. One thread.
public final class CampaignPublisher {
    private static let pauseMicroseconds: UInt32 = 200_000
    private static let pausesBetweenTries = 5
    /// So often in a row a broker may refuse a transaction, one that it has ended itself for instance.
    private static let refusalLimit = 10

    private let world: CampaignWorld
    private let layout: CampaignWorld.Layout
    private let audience: Audience
    private let order: CampaignOrder
    private let counts: (recipients: Int, repeats: Int, invalid: Int)
    private let isStopping: @Sendable () -> Bool
    private let onNews: (PublishNews) -> Void
    private let onProgress: (PublishProgress) -> Void
    private var recipients: RecipientSet
    private var progress: PublishProgress

    /// A publisher for an audience that was looked through.
    ///
    /// - Parameters:
    ///   - recipients: those that the preview has marked; give the only copy away, because it may be large.
    ///   - onNews: called with what people want to know, once.
    ///   - onProgress: called often with how far it is.
    public init(
        _ world: CampaignWorld, _ layout: CampaignWorld.Layout, _ order: CampaignOrder, audience: Audience,
        preview: AudiencePreview, recipients: consuming RecipientSet, isStopping: @escaping @Sendable () -> Bool,
        onNews: @escaping (PublishNews) -> Void, onProgress: @escaping (PublishProgress) -> Void
    ) {
        self.world = world
        self.layout = layout
        self.order = order
        self.audience = audience
        self.isStopping = isStopping
        self.onNews = onNews
        self.onProgress = onProgress
        counts = (preview.recipients, preview.repeats, preview.invalid)
        progress = PublishProgress(
            recipients: preview.recipients, outcomesPerEvent: order.text.pushServices.count)
        self.recipients = recipients
    }

    /// Publishes, and waits for the outcomes.
    public func run() -> (end: PublishEnd, progress: PublishProgress) {
        var isFirst = true
        var refusals = 0
        while true {
            let before = progress.publishedNow
            do throws(PublishJournal.Interruption) {
                let end = try runSession(isFirst: isFirst)
                return (end, progress)
            } catch {
                if progress.publishedNow > before { refusals = 0 }
                switch error {
                case .write(.fenced, isLong: false): return (.takenOver, progress)
                case .write(.fenced, isLong: true): tell("a transaction has taken too long")
                case .write(.unreachable(let error), _): tell("\(error)")
                case .write(.refused(let error), _):
                    refusals += 1
                    guard !TransactionalWriter.isLasting(error), refusals < Self.refusalLimit else {
                        return (.failed(refusal(error)), progress)
                    }
                    tell("\(error)")
                case .tool(let failure):
                    guard failure.kind == .unreachable else { return (.failed(failure), progress) }
                    tell(failure.description)
                }
            }
            isFirst = isFirst && progress.phase == .readingBack
            progress.phase = .unreachable
            for _ in 0..<Self.pausesBetweenTries {
                if isStopping() { return (.interrupted, progress) }
                onProgress(progress)
                usleep(Self.pauseMicroseconds)
            }
        }
    }

    private func tell(_ cause: String) { onNews(.unreachable(cause)) }

    private func refusal(_ error: KafkaError) -> ToolFailure {
        let isForbidden = [
            KafkaError.Code.topicAuthorizationFailed, KafkaError.Code.clusterAuthorizationFailed,
            KafkaError.Code.transactionalIDAuthorizationFailed,
        ].contains(error.code)
        return ToolFailure(
            "the broker takes no events: \(error)"
                + (isForbidden
                    ? "; allow Write and Describe on the transactional id \(world.transactionalID(of: order.text.name)), "
                        + "and Write on \(order.topic), \(world.topics.campaigns) and \(world.topics.audit) with kafka-acls"
                    : ""))
    }

    /// From claiming the name to the end, or to the next loss of the brokers.
    private func runSession(isFirst: Bool) throws(PublishJournal.Interruption) -> PublishEnd {
        let journal = try PublishJournal(world, campaign: order.text.name) { [isStopping, onNews] error in
            onNews(.unreachable("\(error)"))
            return !isStopping()
        }
        defer { journal.close() }
        let session = try PublishSession(
            world, layout, order, journal, audience, counts: counts, progress: progress, isFirst: isFirst,
            isStopping: isStopping, onNews: onNews, onProgress: onProgress)
        defer {
            session.close()
            progress = session.progress
        }
        return try session.run(&recipients)
    }
}
