package import HeraldDriver
package import HeraldEvents
package import HeraldKafka
package import HeraldText
package import HeraldTime

/// Numbers of notifications, by what is known of them.
package struct AccountCounts: Sendable, Equatable {
    /// Request records.
    package var events = 0
    /// What they ask for: an event asks for one notification on each of its push services.
    package var notifications = 0
    package var settled: [Outcome: Int] = [:]
    /// Still on their way: in the request topic or in a retry topic.
    package var open = 0
    /// Without a result, where a result could not have been seen.
    package var unknown = 0
    /// Without a result, and not on their way.
    package var missing = 0
    /// With more than one result.
    package var repeated = 0

    package mutating func add(_ standing: NotificationLedger.Standing, isFirst: Bool, isRepeated: Bool) {
        events += isFirst ? 1 : 0
        notifications += 1
        repeated += isRepeated ? 1 : 0
        switch standing {
        case .settled(let outcome): settled[outcome, default: 0] += 1
        case .untaken, .delayed: open += 1
        case .unknown: unknown += 1
        case .missing: missing += 1
        }
    }

    /// The numbers in the order of their columns, with the columns' names.
    package var columns: [(name: String, count: Int)] {
        [("events", events), ("notifications", notifications)]
            + Outcome.allCases.map { ($0.rawValue, settled[$0] ?? 0) }
            + [("open", open), ("unknown", unknown), ("missing", missing), ("repeated", repeated)]
    }
}

/// What was published in a span of time, and what became of it.
package struct Account: Sendable {
    /// A notification without a result, or with more than one.
    package struct NamedNotification: Sendable, Equatable {
        package let record: Origin
        /// Absent for an event that does not decode.
        package let pushService: String?
        package let source: String?
    }

    /// The request records whose events are accounted for.
    package var since: WallTime?
    package var until: WallTime
    package private(set) var total = AccountCounts()
    /// Of dead letters that were published again.
    package private(set) var replays = AccountCounts()
    package private(set) var topics: [String: AccountCounts] = [:]
    /// Without a name: events that name none.
    package private(set) var sources: [String?: AccountCounts] = [:]
    /// Without a name: events that do not decode.
    package private(set) var pushServices: [String?: AccountCounts] = [:]
    /// What is open, by where it is.
    package private(set) var untaken = 0
    package private(set) var delayed: [Int: Int] = [:]
    /// The retry topics, by the index of their delay.
    package var delayTopics: [String] = []
    /// The first of those that are missing, in the order of their places.
    package private(set) var missing: [NamedNotification] = []
    /// The first of those with more than one result, in the same order.
    package private(set) var repeated: [NamedNotification] = []
    package var tombstones = 0
    /// Records that were deleted before they were read, of partitions that wait for that reason.
    package var lost = LostRecords([])
    /// The same, where an operator has skipped them.
    package var skipped = 0
    /// How many of the lost records, skipped or not, were retries: their events are known by their requests.
    package var lostRetries = 0
    /// How many of the lost records a worker may have read before they were deleted: then it calls them, and they are not
    /// missing.
    package var doubtful = 0
    /// How many events have a notification that is missing.
    package private(set) var missingEvents = 0
    /// How many of the missing belong to retries that an operator has skipped as lost, and of how many events.
    package private(set) var acknowledged = 0
    private var acknowledgedEvents = 0
    /// The skipping that says so.
    package private(set) var acknowledgement: LossAcknowledgement?
    /// What could not be read, a phrase each.
    package var gaps: [String] = []
    /// What could not be read because it was deleted, as an operator has acknowledged, a phrase each.
    package var acknowledgedGaps: [String] = []

    /// That operators have skipped lost retries (`herald offsets skip-lost`).
    package struct LossAcknowledgement: Sendable, Equatable {
        /// How many of them: as many events may be without a result for that reason.
        package var retries: Int
        /// Who skipped some last, and when.
        package var by: String
        package var at: WallTime
        /// The ends of the request topics at that time.
        package var ends: [TopicPartition: Int64]

        package init(retries: Int, by: String, at: WallTime, ends: [TopicPartition: Int64]) {
            (self.retries, self.by, self.at, self.ends) = (retries, by, at, ends)
        }

        fileprivate func mayCover(_ event: NotificationLedger.Event) -> Bool {
            event.offset < ends[TopicPartition(topic: event.topic, partition: event.partition)] ?? 0
        }
    }

    /// The sums of a ledger; at most this many of the missing, and of the repeated, are named.
    ///
    /// - Parameter acknowledgement: as many events without a result as it has retries are acknowledged, of those that were
    ///   published before it.
    package init(
        _ ledger: NotificationLedger, since: WallTime?, until: WallTime, naming limit: Int,
        acknowledgement: LossAcknowledgement? = nil
    ) {
        (self.since, self.until, self.acknowledgement) = (since, until, acknowledgement)
        tombstones = ledger.tombstoneCount
        var (latest, closed): (Origin?, Origin?)
        ledger.forEachNotification { event, service, standing, isRepeated in
            func add(_ counts: inout AccountCounts) {
                counts.add(standing, isFirst: event.isFirst, isRepeated: isRepeated)
            }
            var named: NamedNotification {
                NamedNotification(
                    record: Origin(topic: event.topic, partition: event.partition, offset: event.offset),
                    pushService: service, source: event.source)
            }
            if isRepeated, repeated.count < limit { repeated.append(named) }
            if standing == .missing {
                let record = named.record
                if latest != record { (latest, missingEvents) = (record, missingEvents + 1) }
                if closed != record, let acknowledgement, acknowledgement.mayCover(event),
                    acknowledgedEvents < acknowledgement.retries
                {
                    (closed, acknowledgedEvents) = (record, acknowledgedEvents + 1)
                }
                if closed == record { acknowledged += 1 }
            }
            switch standing {
            case .untaken: untaken += 1
            case .delayed(let delay): delayed[delay, default: 0] += 1
            case .missing where missing.count < limit: missing.append(named)
            case .missing, .unknown, .settled: break
            }
            guard !event.isReplay else { return add(&replays) }
            add(&total)
            add(&topics[event.topic, default: AccountCounts()])
            add(&sources[event.source, default: AccountCounts()])
            // An event counts for each of its push services.
            pushServices[service, default: AccountCounts()].add(standing, isFirst: true, isRepeated: isRepeated)
        }
    }

    package var lostCount: Int { Int(lost.count) + skipped }
    package var missingCount: Int { total.missing + replays.missing }
    /// Whether something is missing or lost for certain, and no operator has acknowledged it.
    package var hasLoss: Bool { max(missingEvents - acknowledgedEvents, Int(lost.count)) > doubtful }
    package var unknownCount: Int { total.unknown + replays.unknown }
    package var repeatedCount: Int { total.repeated + replays.repeated }

    /// Whether each notification has one result, or is on its way, and all of it could be read.
    package var isBalanced: Bool {
        missingCount == 0 && lostCount == 0 && unknownCount == 0 && repeatedCount == 0 && gaps.isEmpty
            && acknowledgedGaps.isEmpty
    }

    /// The rows of its table: what they are of, and the numbers.
    package var rows: [(group: String, name: String?, counts: AccountCounts)] {
        func rows(_ group: String, _ counts: [String?: AccountCounts]) -> [(String, String?, AccountCounts)] {
            counts.sorted { ($1.value.notifications, $0.key ?? "") < ($0.value.notifications, $1.key ?? "") }
                .map { (group, $0.key, $0.value) }
        }
        return [("all", nil, total)]
            + rows("topic", Dictionary(uniqueKeysWithValues: topics.map { (Optional($0.key), $0.value) }))
            + rows("source", sources) + rows("push service", pushServices)
            + (replays.notifications > 0 ? [("replays", nil, replays)] : [])
    }
}

extension Account.NamedNotification {
    fileprivate var json: JSONValue {
        .object([
            .init("record", .string("\(record)")), .init("pns", pushService.map(JSONValue.string) ?? .null),
            .init("source", source.map(JSONValue.string) ?? .null),
        ])
    }
}

extension Account {
    /// For programs.
    package var json: [JSONValue.Member] {
        func value(_ counts: AccountCounts) -> [JSONValue.Member] {
            counts.columns.map { .init($0.name, .integer($0.count)) }
        }
        func list(_ group: String, _ key: String) -> JSONValue {
            .array(
                rows.filter { $0.group == group }.map { row in
                    .object([.init(key, row.name.map(JSONValue.string) ?? .null)] + value(row.counts))
                })
        }
        return [
            .init("since", since.map { .string(RFC3339.text($0)) } ?? .null),
            .init("until", .string(RFC3339.text(until))),
            .init("isBalanced", .bool(isBalanced)),
            .init("total", .object(value(total))),
            .init("replays", .object(value(replays))),
            .init("topics", list("topic", "topic")),
            .init("sources", list("source", "source")),
            .init("pushServices", list("push service", "pns")),
            .init(
                "open",
                .object(
                    [.init("requests", .integer(untaken))]
                        + delayed.sorted { $0.key < $1.key }.map { .init(delayTopics[$0.key], .integer($0.value)) })),
            .init("missing", .array(missing.map(\.json))), .init("acknowledged", .integer(acknowledged)),
            .init("repeated", .array(repeated.map(\.json))),
            .init(
                "lost",
                .object([
                    .init("waiting", .integer(Int(lost.count))), .init("skipped", .integer(skipped)),
                    .init("retries", .integer(lostRetries)), .init("undecided", .integer(doubtful)),
                ])),
            .init("tombstones", .integer(tombstones)),
            .init("gaps", .array(gaps.map(JSONValue.string))),
            .init("acknowledgedGaps", .array(acknowledgedGaps.map(JSONValue.string))),
        ]
    }

    private static func words(_ notifications: [NamedNotification], of count: Int) -> String {
        let named = notifications.prefix(5).map { "\($0.record)" + ($0.pushService.map { " (\($0))" } ?? "") }
        return named.joined(separator: ", ")
            + (count > named.count ? ", and \(count - named.count) more (-o json names them)" : "")
    }

    /// The verdict in sentences.
    package var sentences: [String] {
        var sentences: [String] = []
        if total.open + replays.open > 0 {
            let places =
                (untaken > 0 ? ["\(untaken) in the request topics, which the workers have not passed"] : [])
                + delayed.sorted { $0.key < $1.key }.map { "\($0.value) in \(delayTopics[$0.key])" }
            sentences.append("Open: \(places.joined(separator: ", ")).")
        }
        let delivered = replays.settled[.delivered] ?? 0
        if delivered > 0 {
            sentences.append(
                "\(delivered) of what was published again as a replay \(delivered == 1 ? "is" : "are") delivered; what it had "
                    + "been before counts above all the same.")
        }
        if repeatedCount > 0 {
            sentences.append(
                "Repeated: \(repeatedCount) with more than one result, so that they may have been notified again: "
                    + "\(Self.words(repeated, of: repeatedCount)). delivery.guarantee: at-least-once allows that; else a topic of "
                    + "theirs was deleted and made anew, or the group's offsets were set back.")
        }
        if let finding = lost.finding { sentences.append(finding.sentence) }
        if doubtful > 0 {
            sentences.append(
                "Not decided yet: up to \(doubtful) of these a worker may have read before they were deleted. It calls them when "
                    + "they are due, so as many of the missing may get their result: publish none again before, and ask once more."
            )
        }
        if skipped > 0 {
            sentences.append(
                "\(skipped) records were deleted before they were read, and skipped (herald offsets skip-lost).")
        }
        if lostCount > lostRetries {
            sentences.append(
                "\(lostCount - lostRetries) of the lost records were requests: what they asked for is not in these numbers."
            )
        }
        if lostRetries > 0 {
            sentences.append(
                "\(lostRetries) of the lost records were retries: their notifications are among the missing, where their "
                    + "requests are still there.")
        }
        if unknownCount > 0 {
            sentences.append("\(unknownCount) without a result cannot be judged, because not all results can be read.")
        }
        if missingCount > 0 {
            sentences.append(
                "Missing: \(missingCount) without a result that are not on their way: "
                    + "\(Self.words(missing, of: missingCount)). Ask herald explain TOPIC/PARTITION/OFFSET.")
            if acknowledged > 0, let acknowledgement {
                sentences.append(
                    "Acknowledged: \(acknowledged == missingCount ? "all" : "\(acknowledged)") of the missing, as they were "
                        + "published before \(acknowledgement.by) skipped \(acknowledgement.retries) lost "
                        + "\(acknowledgement.retries == 1 ? "retry" : "retries") (herald offsets skip-lost, last at "
                        + "\(RFC3339.text(acknowledgement.at))), and are no more than these.")
            }
        } else if isBalanced {
            sentences.append(
                "Every notification has one result" + (total.open + replays.open > 0 ? ", or is on its way." : "."))
        }
        sentences += gaps.map { "Not read: \($0)." }
        sentences += acknowledgedGaps.map { "Not in these numbers: \($0)." }
        return sentences
    }
}
