public import HeraldTime

/// Why an event in a worker's memory does not go on, for one of its push services: the one closed set.
///
/// A worker derives it from the state that it acts on, at the moment at which it is asked; it is stored nowhere. What each
/// means, and what ends it, is its ``Kind-swift.enum``'s; each has one way to be made, with its sentence.
public struct WaitReason: WaitWords {
    /// What kind of reason it is.
    public let kind: Kind
    /// What it does, as a sentence goes on behind "it".
    public let phrase: String
    /// Since when, where the state tells.
    public let since: WallTime?
    /// When it ends by itself, or is looked at again, at the earliest; `nil` when only something that happens ends it.
    public let until: WallTime?
    /// How many are before it, where it is in a line.
    public let ahead: Int?

    private init(
        _ kind: Kind, since: WallTime? = nil, until: WallTime? = nil, ahead: Int? = nil, _ phrase: String
    ) {
        (self.kind, self.phrase, self.since, self.until, self.ahead) = (kind, phrase, since, until, ahead)
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

// MARK: On the way to its call

extension WaitReason {
    /// It is being called, since this moment; `nil` when the call hangs, for longer than a second.
    public static func calling(since: WallTime?) -> Self {
        Self(
            .calling, since: since, "is being called" + (since.map { " since \(text($0))" } ?? ", by a call that hangs")
        )
    }

    /// Nothing is in its way: its call begins at the worker's next turn.
    public static let nextTurn = Self(.nextTurn, "is called at once")

    /// It is in a line with earlier events of its user.
    public static func behindUser(_ ahead: Ahead) -> Self { behind(.behindUser, ahead, "of its user") }

    /// It is in a line with earlier events of its partition.
    public static func behindPartition(_ ahead: Ahead) -> Self { behind(.behindPartition, ahead, "of its partition") }

    /// It is in a line with what may be the same event.
    public static func behindSame(_ ahead: Ahead) -> Self { behind(.behindSame, ahead, "that may be the same one") }

    private static func behind(_ kind: Kind, _ ahead: Ahead, _ which: String) -> Self {
        Self(
            kind, ahead: ahead.count,
            "waits behind \(ahead.count) earlier event\(ahead.count == 1 ? "" : "s") \(which), of which "
                + "\(ahead.name) (\(ahead.record)) is first: \(ahead.doing)")
    }

    /// It may be the same event as one that is under way elsewhere, or waits in a retry topic; it looks again at this moment.
    public static func sameUnderWay(until: WallTime) -> Self {
        let other = "the outcome of another event that may be the same one"
        return Self(.sameUnderWay, until: until, "waits for \(other); it looks again at \(text(until))")
    }

    /// Its `notBefore` is not reached.
    public static func notBefore(until: WallTime) -> Self {
        Self(.notBefore, until: until, "waits for its notBefore, \(text(until))")
    }

    /// Its delay is not over: it is the first of its retry partition, or back in memory too early.
    public static func retryDue(until: WallTime) -> Self {
        Self(.retryDue, until: until, "waits for the end of its delay at \(text(until))")
    }

    /// A call failed for now, and it is called again from memory.
    public static func quickRetry(until: WallTime) -> Self {
        Self(.quickRetry, until: until, "failed for now, and is called again at \(text(until))")
    }

    /// Its campaign is paused, and there is no retry topic to wait in: it looks again at this moment.
    public static func campaignPaused(since: WallTime, until: WallTime) -> Self {
        Self(
            .campaignPaused, since: since, until: until,
            "waits because its campaign is paused since \(text(since)); it looks again at \(text(until))")
    }

    /// It is promotional, what users have said last is known as of this moment alone (`nil`: not at all yet), and there is
    /// no retry topic to wait in: it looks again at this moment.
    public static func preferencesBehind(since: WallTime?, until: WallTime) -> Self {
        let known = since.map { "known as of \(text($0)) alone" } ?? "not known yet"
        return Self(
            .preferencesBehind, since: since, until: until,
            "is promotional, and waits because its user's preferences are \(known); it looks again at \(text(until))")
    }

    /// It is promotional, what caps count of its user's home partition is being read since that moment, and there is no
    /// retry topic to wait in: it looks again at this moment.
    public static func capsBehind(partition: Int32, since: WallTime, until: WallTime) -> Self {
        Self(
            .preferencesBehind, since: since, until: until,
            "is promotional, and waits because the caps of partition \(partition) are being read since "
                + "\(text(since)); it looks again at \(text(until))")
    }

    /// It may be one more than caps allow, which a call under way for another event of its user decides: it looks again
    /// at this moment.
    public static func capOpen(until: WallTime) -> Self {
        Self(
            .preferencesBehind, until: until,
            "is promotional, and waits for a call for another event of its user, which may be the last that caps allow; "
                + "it looks again at \(text(until))")
    }

    /// It was refused (401, 403), and the credentials are being renewed.
    public static let credentialsRenewal = Self(
        .credentialsRenewal, "was refused, and waits until the credentials are renewed")

    /// It was refused twice; until this moment others may show that the credentials are accepted.
    public static func credentialsDoubt(until: WallTime) -> Self {
        Self(
            .credentialsDoubt, until: until,
            "was refused twice, and waits until \(text(until)) for an answer to others that shows whether the "
                + "credentials are accepted")
    }

    /// An outage: nothing but probes is called.
    ///
    /// The next probe is due at this moment; `nil` while one is under way, waits for a commit, or there is no event to probe with.
    public static func outage(cause: String, since: WallTime, nextProbe: WallTime?) -> Self {
        Self(
            .outage, since: since, until: nextProbe,
            "waits for the end of the \(cause) outage, which began at \(text(since))"
                + behind("; the next probe is due at ", nextProbe))
    }

    /// Its push service refuses every call while others are accepted: nothing but probes is called there.
    ///
    /// The next probe is due at this moment; `nil` while one is under way.
    public static func pushServiceHeld(_ pushService: String, since: WallTime, nextProbe: WallTime?) -> Self {
        Self(
            .pushServiceHeld, since: since, until: nextProbe,
            "waits because \(pushService) refuses every call since \(text(since)), and others are accepted"
                + behind("; the next probe is due at ", nextProbe))
    }

    /// Outcomes of calls wait for their commit since this moment, which is longer than calls may go on without.
    public static func unrecordedOutcomes(since: WallTime) -> Self {
        Self(
            .unrecordedOutcomes, since: since,
            "waits because outcomes of calls since \(text(since)) are not recorded yet")
    }

    /// The worker stood still, and no commit has shown since that the partitions are still its own.
    public static let stoodStill = Self(
        .stoodStill, "waits because the worker stood still, for a commit that shows that its partitions are its own")

    /// The backend asked for quiet (`Retry-After`) for this push service.
    public static func backendPause(_ limit: Limit) -> Self {
        limited(.backendPause, "waits because the backend asked for quiet for \(limit.pushService)", limit)
    }

    /// The settings' limit of calls a second to this push service.
    public static func serviceLimit(_ limit: Limit) -> Self {
        limited(.serviceLimit, "waits for the limit of calls to \(limit.pushService)", limit)
    }

    /// The settings' limit of calls a second to all push services.
    public static func totalLimit(_ limit: Limit) -> Self {
        limited(.totalLimit, "waits for the limit of all calls", limit)
    }

    /// The rate of calls to this push service that the backend was found to bear.
    public static func learnedLimit(_ limit: Limit) -> Self {
        let rate = "the rate of calls to \(limit.pushService) that the backend was found to bear"
        return limited(.learnedLimit, "waits for \(rate)", limit)
    }

    private static func limited(_ kind: Kind, _ phrase: String, _ limit: Limit) -> Self {
        let calls = "\(limit.ahead) wanted call\(limit.ahead == 1 ? " is" : "s are")"
        let ahead = limit.ahead == 0 ? "" : ", and \(calls) before it"
        return Self(
            kind, until: limit.opens, ahead: limit.ahead,
            "\(phrase): the next may begin at \(text(limit.opens))\(ahead)")
    }

    /// The calls in flight.
    public struct Load: Sendable, Equatable {
        /// All of them.
        public var calls: Int
        /// Those that hang while others are answered, which take no place.
        public var hanging: Int
        /// The push service with the most of them.
        public var pushService: String
        /// Its calls.
        public var its: Int
        /// So many may be in flight, without those that hang.
        public var limit: Int

        /// The calls in flight.
        public init(calls: Int, hanging: Int, pushService: String, its: Int, limit: Int) {
            (self.calls, self.hanging, self.pushService) = (calls, hanging, pushService)
            (self.its, self.limit) = (its, limit)
        }
    }

    /// As many calls are in flight as there may be; at this moment the oldest of them may count as one that hangs.
    public static func callsInFlight(_ load: Load, until: WallTime?) -> Self {
        let which = load.its == load.calls ? "all" : "\(load.its)"
        let hanging =
            load.hanging == 0
            ? ", and"
            : "; \(load.hanging) of them hang\(load.hanging == 1 ? "s" : "") and take\(load.hanging == 1 ? "s" : "") no place, "
                + "and of the others"
        // It falls while more are under way.
        let fallen = load.calls - load.hanging > load.limit ? " now that calls take longer" : ""
        return Self(
            .callsInFlight, until: until,
            "waits for a place: \(load.calls) calls are in flight, \(which) to \(load.pushService)\(hanging) there may be "
                + "\(load.limit)\(fallen)")
    }
}

// MARK: Behind its call

extension WaitReason {
    /// This push service is decided; the outcome is written when the event's others are.
    public static let otherPushServices = Self(
        .otherPushServices, "is decided, and waits for the event's other push services")

    /// Its partition is being given back, or the worker stops: what is under way is waited for until this moment.
    public static func stopping(until: WallTime) -> Self {
        Self(
            .stopping, until: until,
            "is not called any more, because its partition is given back or the worker stops; calls under way are waited "
                + "for until \(text(until))")
    }

    /// Its records are on their way to the broker, or offered again at this moment.
    public static func unacknowledged(until: WallTime?) -> Self {
        let what = "is decided, and its records are not acknowledged by the broker"
        return Self(.unacknowledged, until: until, what + behind("; they are offered again at ", until))
    }

    /// Its outcome is decided and written with the next transaction, whose commit, or opening, is due at this moment.
    public static func transaction(until: WallTime?) -> Self {
        Self(
            .transaction, until: until, "is decided, and written with the next transaction" + behind(" at ", until))
    }

    /// The transaction with its outcome, or the one before it, is being ended; the broker is asked again at this moment.
    public static func transactionEnds(until: WallTime?) -> Self {
        let what = "is decided, and waits for the end of a transaction"
        return Self(.transactionEnds, until: until, what + behind("; the broker is asked again at ", until))
    }

    /// The transactional producer is being made ready.
    public static let producer = Self(.producer, "is decided, and waits for a transactional producer")

    /// The broker refused a record of it: it is tried again alone, at this moment or when its turn comes.
    public static func recordRefused(until: WallTime?) -> Self {
        let what = "is decided, and the broker refused a record of it, which is tried again alone"
        return Self(.recordRefused, until: until, what + behind(" at ", until))
    }

    private static func text(_ moment: WallTime) -> String { RFC3339.text(moment) }

    private static func behind(_ words: String, _ moment: WallTime?) -> String {
        moment.map { words + text($0) } ?? ""
    }
}
