internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTime
internal import HeraldTools

/// What a publisher writes: batches of events, each with the campaign's progress, in one transaction.
///
/// One thread.
final class PublishJournal {
    /// A living publisher shows itself so often.
    static let heartbeat = Duration.seconds(5)

    private let writer: TransactionalWriter
    private let world: CampaignWorld
    private let campaign: String
    private var lastWrite = ContinuousClock.now

    /// The name that is claimed: whoever had it can commit nothing more.
    ///
    /// - Parameter goesOn: asked while a broker does not answer.
    init(
        _ world: CampaignWorld, campaign: String, goesOn: @escaping (KafkaError) -> Bool
    ) throws(Interruption) {
        self.world = world
        self.campaign = campaign
        do throws(ToolFailure) {
            writer = try TransactionalWriter(
                properties: world.writerProperties + [("transactional.id", world.transactionalID(of: campaign))])
        } catch {
            throw .tool(error)
        }
        writer.goesOn = goesOn
        do throws(TransactionalWriter.WriteFailure) {
            try writer.claim()
        } catch {
            throw .write(error, isLong: true)
        }
    }

    /// Why a publisher cannot go on.
    enum Interruption: Error {
        /// - isLong: whether the broker may have ended the transaction because it took too long.
        case write(TransactionalWriter.WriteFailure, isLong: Bool)
        case tool(ToolFailure)
    }

    /// Whether it is time to show that the publisher lives.
    var isHeartbeatDue: Bool { ContinuousClock.now - lastWrite >= Self.heartbeat }

    /// Writes events and what belongs to them in one transaction.
    func write(
        _ events: [OutgoingRecord] = [], definition: CampaignDefinition? = nil, control: CampaignControl? = nil,
        progress: CampaignProgress? = nil, audit: AuditEntry? = nil
    ) throws(Interruption) {
        var records = events
        func add(_ key: String, _ value: [UInt8]) {
            records.append(OutgoingRecord(topic: world.topics.campaigns, key: Array(key.utf8), value: value))
        }
        if let definition { add(CampaignDefinition.key(of: campaign), RecordJSON.encoded(definition)) }
        if let control { add(campaign, control.encoded()) }
        if let progress { add(CampaignProgress.key(of: campaign), RecordJSON.encoded(progress)) }
        if let audit { records.append(audit.record(topic: world.topics.audit)) }
        let start = ContinuousClock.now
        do throws(TransactionalWriter.WriteFailure) {
            try writer.write(records)
        } catch {
            throw .write(error, isLong: ContinuousClock.now - start >= transactionTimeout)
        }
        lastWrite = .now
    }

    /// How long a transaction may be open before the broker ends it.
    private var transactionTimeout: Duration {
        let property = world.writerProperties.last { $0.0 == "transaction.timeout.ms" }
        return .milliseconds(property.flatMap { Int($0.1) } ?? 10_000)
    }

    /// Lets the client go.
    func close() { writer.close() }

    /// An entry of the audit topic.
    func audit(_ phase: String, at moment: WallTime) -> AuditEntry {
        var entry = AuditEntry(action: "campaign.start", phase: phase, at: moment.text, by: world.operatorName)
        entry.selection = campaign
        return entry
    }
}

extension CampaignWorld {
    /// The offset behind the last record of each partition, open transactions included.
    func ends(of topic: String, _ partitions: [Int32]) throws(ToolFailure) -> [String: Int64] {
        let reader = try TopicReader(
            properties: readerProperties, topic: topic, partitions: partitions, from: { _ in .end })
        defer { reader.close() }
        return Dictionary(uniqueKeysWithValues: reader.positions.map { ("\($0.key.partition)", $0.value) })
    }
}
