public import HeraldTime

/// Why an event in a worker's memory does not go on, for one of its push services: the one closed set.
///
/// A worker derives it from the state that it acts on, at the moment at which it is asked; it is stored nowhere. What each
/// is called, and what ends it, is its ``Kind-swift.enum``'s.
public enum WaitReason: WaitWords {
    /// It is being called, since this moment; `nil` when the call hangs, for longer than a second.
    case calling(since: WallTime?)
    /// Nothing is in its way: its call begins at the worker's next turn.
    case nextTurn
    /// It is in a line with earlier events.
    case behind(Line, Ahead)
    /// It may be the same event as one that is under way elsewhere, or waits in a retry topic; it looks again at this moment.
    case sameUnderWay(until: WallTime)
    /// Its `notBefore` is not reached.
    case notBefore(until: WallTime)
    /// Its delay is not over: it is the first of its retry partition, or back in memory too early.
    case retryDue(until: WallTime)
    /// A call failed for now, and it is called again from memory.
    case quickRetry(until: WallTime)
    /// Its campaign is paused, and there is no retry topic to wait in: it looks again at this moment.
    case campaignPaused(since: WallTime, until: WallTime)
    /// It was refused (401, 403), and the credentials are being renewed.
    case credentialsRenewal
    /// It was refused twice; until this moment others may show that the credentials are accepted.
    case credentialsDoubt(until: WallTime)
    /// An outage: nothing but probes is called. The next probe is due at this moment; `nil` while one is under way,
    /// waits for a commit, or there is no event to probe with.
    case outage(cause: String, since: WallTime, nextProbe: WallTime?)
    /// Outcomes of calls wait for their commit since this moment, which is longer than calls may go on without.
    case unrecordedOutcomes(since: WallTime)
    /// The worker stood still, and no commit has shown since that the partitions are still its own.
    case stoodStill
    /// The backend asked for quiet (`Retry-After`) for this push service.
    case backendPause(Limit)
    /// The settings' limit of calls a second to this push service.
    case serviceLimit(Limit)
    /// The settings' limit of calls a second to all push services.
    case totalLimit(Limit)
    /// The rate of calls to this push service that the backend was found to bear.
    case learnedLimit(Limit)
    /// As many calls are in flight as there may be; at this moment the oldest of them may count as one that hangs.
    case callsInFlight(calls: Int, limit: Int, until: WallTime?)
    /// This push service is decided; the outcome is written when the event's others are.
    case otherPushServices
    /// Its partition is being given back, or the worker stops: what is under way is waited for until this moment.
    case stopping(until: WallTime)
    /// Its records are on their way to the broker, or offered again at this moment.
    case unacknowledged(until: WallTime?)
    /// Its outcome is decided and written with the next transaction, whose commit, or opening, is due at this moment.
    case transaction(until: WallTime?)
    /// The transaction with its outcome, or the one before it, is being ended; the broker is asked again at this moment.
    case transactionEnds(until: WallTime?)
    /// The transactional producer is being made ready.
    case producer
    /// The broker refused a record of it: it is tried again alone, at this moment or when its turn comes.
    case recordRefused(until: WallTime?)

    /// In what order it is behind others.
    public enum Line: Sendable, Equatable, CaseIterable {
        /// Its user's.
        case user
        /// Its partition's.
        case partition
        /// Of what may be the same event.
        case same
    }

    /// The first of a line, for which the others wait.
    public struct Ahead: Sendable, Equatable {
        /// Its id, or its request record without one.
        public var name: String
        /// Its request record, as `TOPIC/PARTITION/OFFSET`.
        public var record: String
        /// How many events are in line before this one.
        public var count: Int
        /// What it does itself, a phrase for each group of its push services.
        public var doing: String

        /// The first of a line.
        public init(name: String, record: String, count: Int, doing: String) {
            self.name = name
            self.record = record
            self.count = count
            self.doing = doing
        }
    }

    /// When calls to a push service may go on.
    public struct Limit: Sendable, Equatable {
        /// The push service.
        public var pushService: String
        /// The next call to it may begin then; this one later when others are before it.
        public var opens: WallTime
        /// So many wanted calls to it are before this one, of the same topic.
        public var ahead: Int

        /// A limit.
        public init(pushService: String, opens: WallTime, ahead: Int) {
            self.pushService = pushService
            self.opens = opens
            self.ahead = ahead
        }
    }
}

extension WaitReason {
    /// What kind of reason it is.
    public var kind: Kind {
        switch self {
        case .calling: .calling
        case .nextTurn: .nextTurn
        case .behind(.user, _): .behindUser
        case .behind(.partition, _): .behindPartition
        case .behind(.same, _): .behindSame
        case .sameUnderWay: .sameUnderWay
        case .notBefore: .notBefore
        case .retryDue: .retryDue
        case .quickRetry: .quickRetry
        case .campaignPaused: .campaignPaused
        case .credentialsRenewal: .credentialsRenewal
        case .credentialsDoubt: .credentialsDoubt
        case .outage: .outage
        case .unrecordedOutcomes: .unrecordedOutcomes
        case .stoodStill: .stoodStill
        case .backendPause: .backendPause
        case .serviceLimit: .serviceLimit
        case .totalLimit: .totalLimit
        case .learnedLimit: .learnedLimit
        case .callsInFlight: .callsInFlight
        case .otherPushServices: .otherPushServices
        case .stopping: .stopping
        case .unacknowledged: .unacknowledged
        case .transaction: .transaction
        case .transactionEnds: .transactionEnds
        case .producer: .producer
        case .recordRefused: .recordRefused
        }
    }

    /// Since when, where the state tells.
    public var since: WallTime? {
        switch self {
        case .calling(let since): since
        case .campaignPaused(let since, _), .outage(_, let since, _), .unrecordedOutcomes(let since): since
        default: nil
        }
    }

    /// When it ends by itself, or is looked at again, at the earliest; `nil` when only something that happens ends it.
    public var until: WallTime? {
        switch self {
        case .sameUnderWay(let until), .notBefore(let until), .retryDue(let until), .quickRetry(let until),
            .campaignPaused(_, let until), .credentialsDoubt(let until), .stopping(let until):
            until
        case .backendPause(let limit), .serviceLimit(let limit), .totalLimit(let limit), .learnedLimit(let limit):
            limit.opens
        case .unacknowledged(let until), .transaction(let until), .transactionEnds(let until),
            .recordRefused(let until), .callsInFlight(_, _, let until):
            until
        case .outage(_, _, let nextProbe): nextProbe
        case .calling, .nextTurn, .behind, .credentialsRenewal, .unrecordedOutcomes, .stoodStill,
            .otherPushServices, .producer:
            nil
        }
    }

    /// What it does, as a sentence goes on behind "it".
    public var phrase: String {
        switch self {
        case .calling(let since?): "is being called since \(RFC3339.text(since))"
        case .calling(nil): "is being called, by a call that hangs"
        case .nextTurn: "is called at once"
        case .behind(let line, let ahead):
            "waits behind \(ahead.count) earlier \(Self.words(ahead.count, in: line)), of which "
                + "\(ahead.name) (\(ahead.record)) is first: \(ahead.doing)"
        case .sameUnderWay(let until):
            "waits for the outcome of another event that may be the same one; it looks again at \(RFC3339.text(until))"
        case .notBefore(let until): "waits for its notBefore, \(RFC3339.text(until))"
        case .retryDue(let until): "waits for the end of its delay at \(RFC3339.text(until))"
        case .quickRetry(let until): "failed for now, and is called again at \(RFC3339.text(until))"
        case .campaignPaused(let since, let until):
            "waits because its campaign is paused since \(RFC3339.text(since)); it looks again at "
                + RFC3339.text(until)
        case .credentialsRenewal: "was refused, and waits until the credentials are renewed"
        case .credentialsDoubt(let until):
            "was refused twice, and waits until \(RFC3339.text(until)) for an answer to others that shows whether the "
                + "credentials are accepted"
        case .outage(let cause, let since, let nextProbe):
            "waits for the end of the outage \(cause), which began at \(RFC3339.text(since))"
                + (nextProbe.map { "; the next probe is due at \(RFC3339.text($0))" } ?? "")
        case .unrecordedOutcomes(let since):
            "waits because outcomes of calls since \(RFC3339.text(since)) are not recorded yet"
        case .stoodStill:
            "waits because the worker stood still, for a commit that shows that its partitions are its own"
        case .backendPause(let limit):
            "waits because the backend asked for quiet for \(limit.pushService)\(Self.words(limit))"
        case .serviceLimit(let limit): "waits for the limit of calls to \(limit.pushService)\(Self.words(limit))"
        case .totalLimit(let limit): "waits for the limit of all calls\(Self.words(limit))"
        case .learnedLimit(let limit):
            "waits for the rate of calls to \(limit.pushService) that the backend was found to bear\(Self.words(limit))"
        case .callsInFlight(let calls, let limit, _):
            "waits for a place: \(calls) calls are in flight, and there may be \(limit)"
        case .otherPushServices: "is decided, and waits for the event's other push services"
        case .stopping(let until):
            "is not called any more, because its partition is given back or the worker stops; calls under way are waited "
                + "for until \(RFC3339.text(until))"
        case .unacknowledged(let until):
            "is decided, and its records are not acknowledged by the broker"
                + (until.map { "; they are offered again at \(RFC3339.text($0))" } ?? "")
        case .transaction(let until):
            "is decided, and written with the next transaction" + (until.map { " at \(RFC3339.text($0))" } ?? "")
        case .transactionEnds(let until):
            "is decided, and waits for the end of a transaction"
                + (until.map { "; the broker is asked again at \(RFC3339.text($0))" } ?? "")
        case .producer: "is decided, and waits for a transactional producer"
        case .recordRefused(let until):
            "is decided, and the broker refused a record of it, which is tried again alone"
                + (until.map { " at \(RFC3339.text($0))" } ?? "")
        }
    }

    private static func words(_ count: Int, in line: Line) -> String {
        let noun = count == 1 ? "event" : "events"
        return switch line {
        case .user: "\(noun) of its user"
        case .partition: "\(noun) of its partition"
        case .same: count == 1 ? "event that may be the same one" : "events that may be the same one"
        }
    }

    private static func words(_ limit: Limit) -> String {
        let ahead =
            limit.ahead == 0 ? "" : ", and \(limit.ahead) wanted call\(limit.ahead == 1 ? " is" : "s are") before it"
        return ": the next may begin at \(RFC3339.text(limit.opens))\(ahead)"
    }
}
