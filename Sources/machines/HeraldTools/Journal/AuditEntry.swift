package import HeraldDriver
package import HeraldEvents
package import HeraldKafka

/// A record of the audit topic: who did what, when and why.
package struct AuditEntry: Codable, Equatable, Sendable {
    /// What was done, such as `dlq.replay` or `campaign.pause`.
    package var action: String
    /// `started`, `ended`, or `done` for what takes no time.
    package var phase: String
    /// RFC 3339.
    package var at: String
    /// The user and the machine.
    package var by: String
    /// The job, if it is one.
    package var job: String?
    /// What the operator gave as the reason or note.
    package var reason: String?
    /// Which dead letters, as a condition, or which campaign.
    package var selection: String?
    /// How many were planned.
    package var planned: Int?
    /// The ends that the plan was frozen at, by partition.
    package var ends: [String: Int64]?
    /// The options that change what a replay does.
    package var options: [String: String]?
    /// How it ended: `complete`, `paused`, `stopped`, `failed`.
    package var end: String?
    /// Counts at the end, such as `replayed`, `delivered`, `failed`, `open`.
    package var counts: [String: Int]?
    /// The job whose lease was taken over, because its process was dead; or the publisher of a campaign that was taken over,
    /// which had not said that it ended.
    package var tookOverFrom: String?

    /// An entry with what every entry has.
    package init(action: String, phase: String, at: String, by: String) {
        self.action = action
        self.phase = phase
        self.at = at
        self.by = by
    }

    /// The pause of a campaign, by whoever wrote it: a worker and a publisher pause it themselves.
    package init(pause control: CampaignControl, of campaign: String) {
        self.init(action: "campaign.pause", phase: "done", at: control.at.text, by: control.by)
        (selection, reason) = (campaign, control.reason)
    }

    package func encoded() -> [UInt8] { RecordJSON.encoded(self) }

    /// The action of `herald offsets skip-lost`.
    package static let skipLost = "offsets.skip-lost"

    /// How many records that were deleted before they were read it says were skipped; `nil` when it is about something
    /// else.
    package var skippedCount: Int? { action == Self.skipLost ? counts?["lost"] ?? 0 : nil }
    /// How many of these were retries; 0 in entries of before that was counted.
    package var skippedRetryCount: Int { counts?[Self.lostRetries] ?? 0 }

    /// The name of that count.
    package static let lostRetries = "lostRetries"
}

extension AuditEntry {
    /// It as a record of the audit topic, which lies with the others of the same operator.
    package func record(topic: String) -> OutgoingRecord {
        OutgoingRecord(topic: topic, key: Array(by.utf8), value: encoded())
    }

    /// Writes down that the operator reads messages' texts, and returns when the brokers have it.
    ///
    /// Without that record the texts are not shown.
    package func recordReveal(topic: String, properties: ClientProperties) throws {
        var failure: KafkaError?
        do throws(KafkaError) {
            failure = try PlainWriter.write([record(topic: topic)], properties: properties)[0]
        } catch {
            failure = error
        }
        guard let failure else { return }
        throw ToolFailure(
            "nothing is revealed, because it cannot be written to \(topic) who did it", failure,
            allow: KafkaPermission(.write, on: .topic(topic)))
    }
}
