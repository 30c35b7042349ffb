internal import FoundationEssentials
package import HeraldTools

/// The job that works on the dead letters now: one record of the state topic, written again and again while the job
/// lives.
package struct Lease: Codable, Equatable, Sendable {
    package var job: String
    /// The user and the machine.
    package var owner: String
    /// The process, for others on the same machine.
    package var process: ProcessIdentity
    /// What it does, for people.
    package var work: String
    /// When the job began, epoch milliseconds.
    package var since: Int64
    /// Rises with each writing: two looks show whether the job is alive, whatever clocks say.
    package var beat = 0
    /// Whether the job has ended.
    package var isOver = false

    /// The record's key.
    package static let key = "lease"
    /// How often a living job writes it.
    static let renewal = Duration.seconds(3)
    /// A lease that did not change for so long while another job watched it is no living job's.
    package static let patience = Duration.seconds(15)

    /// What a process knows of the one that holds a lease.
    package enum Life: Sendable {
        case ended
        case living
        /// It runs on another machine, or it can't be seen from here.
        case unknown
    }

    /// What this process knows of the holder.
    package var life: Life {
        if process.hasEnded { return .ended }
        return process.isCertainlyAlive ? .living : .unknown
    }
}

extension Lease {
    /// Reads the value of a record; `nil` when it says nothing that can be so.
    package init?(decoding value: [UInt8]) {
        guard let lease = try? JSONDecoder().decode(Self.self, from: Data(value)), SoundNumber.isMoment(lease.since)
        else { return nil }
        self = lease
    }
}
