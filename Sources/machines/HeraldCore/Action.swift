public import HeraldEvents

/// An order of the engine to its lane.
///
/// The lane carries out actions in order.
public enum Action: Sendable, Equatable {
    /// Send the event of this slot to one push service.
    case call(CallToken)
    /// Produce the record that ``Engine/production(_:)`` describes.
    case produce(ProductionID)
    /// The record in this slot is settled or given up: free its message.
    case release(slot: Int32)
    /// The record in this slot stays for longer than most: copy it and free its message, which keeps everything fetched
    /// with it in memory.
    case retainRecord(slot: Int32)
    /// Commit ``Engine/commitPositions``, in the transaction if there is one, and report with
    /// ``Engine/committed(sequence:_:now:)``; the same number again: repeat the same call.
    case commit(sequence: UInt64)
    /// Open a transaction for every record that is produced from now on.
    case beginTransaction
    /// Abort the transaction, and report with ``Engine/aborted(_:now:)``.
    case abortTransaction
    /// Give up the records that no broker has been sent: they keep the commit under way from its end.
    case giveUpRecords
    /// Recreate the producer after a fatal error; report with ``Engine/producerReady(lateClaims:now:)``.
    case renewProducer
    /// The commit with this number has an unknown outcome: compare the group's committed offsets with
    /// ``Engine/commitPositions``, and report with ``Engine/committed(sequence:_:now:)`` (`abortable` when it was not
    /// made).
    case resolveCommit(sequence: UInt64)
    /// Stop fetching a partition, which invalidates the records in its source's queue.
    case pause(partition: Int32)
    /// Fetch it again.
    case resume(partition: Int32)
    /// Read a partition again from ``Engine/nextOffset(of:)``: one of its records was not taken.
    case rewind(partition: Int32)
    /// Take the records out of a source's queue, to be handed out first: its partitions will be paused.
    case retainQueue(source: Int)
    /// Give up the records taken out of a source's queue; they are read again.
    case dropRetained(source: Int)
    /// Answer the revoked assignment, then report with ``Engine/unassigned()``.
    case unassign
    /// The drain is over: leave the group and stop. `complete` when nothing was given up.
    case leave(complete: Bool)
    /// Credentials were refused: renew them once for all calls (fetch a new token, read a secret's file again), then
    /// report with ``Engine/credentialsRenewed(now:)``, whether that succeeded or not; at once without anything to
    /// renew.
    case renewCredentials
    /// Too many of this campaign's events failed: record that it is paused, unless it has ended. Report the outcome
    /// with ``Engine/campaign(_:is:now:)``; with a status, which rejected too many of its latest calls, the engine
    /// holds the campaign until then.
    case pauseCampaign(CampaignFailures)
    /// Inform the operator.
    case notice(Notice)
}

/// News for the operator.
public enum Notice: Sendable, Equatable {
    /// No events are taken until the backend recovers; nothing is lost.
    case outageBegan(OutageReason)
    /// The backend has recovered.
    case outageEnded(OutageReason)
    /// One push service refuses every call while another accepts calls: its calls wait, and nothing is lost.
    case holdBegan(ServiceHold)
    /// It accepts calls again, or nobody calls it any more.
    case holdEnded(ServiceHold)
    /// The group's offset of a partition carries foreign or damaged metadata: it is ignored, and an earlier owner's
    /// work beyond the offset may be repeated.
    case foreignMetadata(topic: String, partition: Int32)
    /// The consumer passed over offsets that may hold events without a call.
    case passedOver(PassedOver)
    /// The broker refuses a record of this topic although everything optional was left out; it is offered again and
    /// again.
    case recordRefused(topic: String)
    /// The topic of a delay refuses records: retries go by way of another delay's, and calls go on.
    case retriesDetoured(from: String, to: String)
    /// Another process produces under this worker's name (`kafka.instance`): the worker can't go on.
    case rival
    /// A drain or a revocation reached its deadline with this many unsettled events: they will be taken again.
    case gaveUp(events: Int)
}

/// The outcome of offering a record.
public enum Intake: Sendable, Equatable {
    /// It is in this slot until the slot's `release`.
    case accepted(SlotID)
    /// It is settled: free its message now.
    case done
    /// The table is full: offer it again before anything else.
    case noRoom
}
