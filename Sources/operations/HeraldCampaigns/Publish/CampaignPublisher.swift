internal import Glibc
internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTools

/// Publishes a campaign to its end, or until something ends it; starting it again, anywhere, goes on with the rest.
///
/// Each time that it has lost touch with the brokers it begins anew, as if it had been killed: it claims the campaign's
/// name, reads what is published, and goes through the audience from its beginning. One thread.
package final class CampaignPublisher {
    private static let pauseMicroseconds: UInt32 = 200_000
    private static let pausesBetweenTries = 5
    /// So often in a row a broker may refuse a transaction, one that it has ended itself for instance.
    private static let refusalLimit = 10
    private static let heartbeat = Duration.seconds(5)

    let context: CampaignContext
    let layout: CampaignContext.Layout
    let audience: Audience
    let order: CampaignOrder
    let counts: (recipients: Int, repeats: Int, invalid: Int, mark: String, beginsWith: String?)
    let isStopping: @Sendable () -> Bool
    let onNews: (PublishNews) -> Void
    let onProgress: (PublishProgress) -> Void
    /// Who was seen in the audience, and whose events are published.
    var recipients: RecipientSet
    private(set) var progress: PublishProgress

    /// A publisher for an audience that was looked through.
    ///
    /// - Parameters:
    ///   - recipients: those that the preview has marked; give the only copy away, because it may be large.
    ///   - onNews: called with what people want to know, once.
    ///   - onProgress: called often with how far it is.
    package init(
        _ context: CampaignContext, _ layout: CampaignContext.Layout, _ order: CampaignOrder, audience: Audience,
        preview: AudiencePreview, recipients: consuming RecipientSet, isStopping: @escaping @Sendable () -> Bool,
        onNews: @escaping (PublishNews) -> Void, onProgress: @escaping (PublishProgress) -> Void
    ) {
        self.context = context
        self.layout = layout
        self.order = order
        self.audience = audience
        self.isStopping = isStopping
        self.onNews = onNews
        self.onProgress = onProgress
        counts = (preview.recipients, preview.repeats, preview.invalid, preview.mark, preview.beginsWith)
        progress = PublishProgress(recipients: preview.recipients, outcomesPerEvent: order.text.pushServices.count)
        self.recipients = recipients
    }

    /// Publishes, and waits for the outcomes.
    package func run() -> (end: PublishEnd, progress: PublishProgress) {
        var isFirst = true
        var refusals = 0
        while true {
            let before = progress.publishedNow
            do {
                return (try runSession(isFirst: isFirst), progress)
            } catch {
                if progress.publishedNow > before { refusals = 0 }
                if let end = end(after: error, &refusals) { return (end, progress) }
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

    /// How it ends after this error; `nil` when it begins anew.
    private func end(after error: any Error, _ refusals: inout Int) -> PublishEnd? {
        switch error {
        case TransactionalPublisher.WriteFailure.lost(.fenced(isLong: false)): return .takenOver
        case TransactionalPublisher.WriteFailure.lost(.fenced): reportUnreachable("a transaction has taken too long")
        case TransactionalPublisher.WriteFailure.lost(.unreachable(let error)): reportUnreachable(error.words)
        case TransactionalPublisher.WriteFailure.refused(let error),
            TransactionalPublisher.WriteFailure.lost(.inDoubt(let error)),
            TransactionalPublisher.WriteFailure.lost(.unclaimable(let error)):
            refusals += 1
            guard !error.isLasting, refusals < Self.refusalLimit else { return .failed(refusal(error)) }
            reportUnreachable(error.words)
        case let failure as ToolFailure:
            guard failure.kind == .unreachable else { return .failed(failure) }
            reportUnreachable(failure.description)
        default: return .failed(ToolFailure("\(error)"))
        }
        return nil
    }

    private func reportUnreachable(_ cause: String) { onNews(.unreachable(cause)) }

    private func refusal(_ error: KafkaError) -> ToolFailure {
        ToolFailure(
            "the broker takes no events", error,
            allow: KafkaPermission(
                .write, on: .transactionalID(context.transactionalID(of: order.text.name)), .topic(order.topic),
                .topic(context.topics.campaigns), .topic(context.topics.audit)))
    }

    /// From claiming the name to the end, or to the next loss of the brokers.
    private func runSession(isFirst: Bool) throws -> PublishEnd {
        let publisher = try TransactionalPublisher(
            properties: context.writerProperties, name: context.transactionalID(of: order.text.name),
            heartbeat: Self.heartbeat
        ) { [isStopping, onNews] error in
            onNews(.unreachable(error.words))
            return !isStopping()
        }
        defer { publisher.close() }
        let session = try PublishSession(self, publisher, isFirst: isFirst)
        defer {
            session.close()
            progress = session.progress
        }
        return try session.runToEnd()
    }
}
