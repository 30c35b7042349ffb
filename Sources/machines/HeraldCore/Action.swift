public import HeraldEvents

/// What the engine wants done.
///
/// The lane carries actions out in order.
public enum Action: Sendable, Equatable {
    /// Send the event of this slot to one push service.
    case call(CallToken)
    /// Produce the record that ``Engine/production(_:)`` describes.
    case produce(ProductionID)
    /// The record in this slot is settled or given up: free its message.
    case release(slot: Int32)
    /// The record in this slot stays for longer than most: copy it and let its message go, which holds on to all that was
    /// fetched with it.
    case retainRecord(slot: Int32)
    /// Commit ``Engine/commitPositions``, in the transaction if there is one, and report with
    /// ``Engine/committed(sequence:_:now:)``; the same number again: make the same call again.
    case commit(sequence: UInt64)
    /// Open a transaction, to which every record belongs that is produced from now on.
    case beginTransaction
    /// Abort the transaction, and report with ``Engine/aborted(_:now:)``.
    case abortTransaction
    /// Recreate the producer after a fatal error; report with ``Engine/producerReady(lateClaims:now:)``.
    case renewProducer
    /// It is unknown whether the commit with this number was made: compare what the group has committed with
    /// ``Engine/commitPositions``, and report with ``Engine/committed(sequence:_:now:)`` (`abortable` when it was not).
    case resolveCommit(sequence: UInt64)
    /// Stop fetching a partition, which makes void what lies in its source's queue.
    case pause(partition: Int32)
    /// Fetch it again.
    case resume(partition: Int32)
    /// Read a partition again from ``Engine/nextOffset(of:)``: a record of it was not taken.
    case rewind(partition: Int32)
    /// Take what lies in a source's queue out of it, to be handed out first: its partitions will be paused.
    case retainQueue(source: Int)
    /// Give up what was taken out of a source's queue; it is read again.
    case dropRetained(source: Int)
    /// Answer the revoked assignment, then report with ``Engine/unassigned()``.
    case unassign
    /// The drain is over: leave the group and stop. `complete` when nothing was given up.
    case leave(complete: Bool)
    /// Credentials were refused: renew them, once for all calls (fetch a new token, read a secret's file again), and
    /// report with ``Engine/credentialsRenewed(now:)``, whether that succeeded or not; at once when there is nothing to
    /// renew.
    case renewCredentials
    /// Too many of this campaign's events failed: write that it is paused, unless it does not run any more. What comes of it
    /// is told with ``Engine/campaign(_:is:now:)``; with a status, which rejected so many of its latest calls, the engine
    /// holds it until then.
    case pauseCampaign(CampaignFailures)
    /// Tell people.
    case notice(Notice)
}

/// Something that people should know.
public enum Notice: Sendable, Equatable {
    /// Taking stops until the backend is well; nothing is lost.
    case outageBegan(OutageReason)
    /// The backend is well again.
    case outageEnded(OutageReason)
    /// The group's offset of a partition carries metadata that Herald did not write, or that is damaged: it is ignored,
    /// and what an earlier owner did beyond the offset may be done again.
    case foreignMetadata(topic: String, partition: Int32)
    /// Offsets were passed over that may hold events which nobody was called for.
    case passedOver(PassedOver)
    /// The broker refuses a record of this topic although everything that could be was left out; it is offered again and again.
    case recordRefused(topic: String)
    /// Another process produces under this worker's name (`kafka.instance`): the worker can't go on.
    case rival
    /// A drain or a revocation ran into its deadline with this many events unsettled: they will be taken again.
    case gaveUp(events: Int)
}

/// What became of a record that was offered.
public enum Intake: Sendable, Equatable {
    /// It is in this slot until the slot's `release`.
    case accepted(SlotID)
    /// It is dealt with: free its message now.
    case done
    /// There is no room: offer it again before anything else is taken.
    case noRoom
}
