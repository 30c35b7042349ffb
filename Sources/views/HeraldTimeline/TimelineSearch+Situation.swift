internal import HeraldBytes
package import HeraldEvents
package import HeraldKafka
internal import HeraldText
import HeraldTime
package import HeraldTools

/// Whom an event waits for.
package struct WorkerGroup: Sendable {
    /// `kafka.group`.
    package var name: String
    /// Host and port of `admin.listen`; `nil` when it is off.
    package var listen: (host: String, port: UInt16)?
    /// Their admin ports as `host:port`; `nil` when they are not set.
    package var named: [String]?
    /// Reads the token that they want to be shown; `nil` when none is set.
    package var token: (@Sendable () throws -> String)?

    package init(
        name: String, listen: (host: String, port: UInt16)?, named: [String]?,
        token: (@Sendable () throws -> String)? = nil
    ) {
        self.name = name
        self.listen = listen
        self.named = named
        self.token = token
    }
}

/// What beside its records decides where an event stands.
extension TimelineSearch {
    static var questionTimeout: Milliseconds { .seconds(10) }

    /// Where an event stands, why, and what changes it; asks the group, its workers and, for an event of a campaign, the
    /// campaigns topic.
    ///
    /// - Parameters:
    ///   - found: in which the event is.
    ///   - known: what the settings decide.
    package func explanation(
        of event: EventTimeline, in found: Found, _ known: Explanation.Situation, reach: ClusterReach, admin: Admin
    ) throws -> Explanation {
        var situation = known
        situation.gaps = found.gaps
        situation.isForeign = !topics.requests.contains(event.origin.topic)
        situation.committedOffset = try committedOffset(
            of: situation.isForeign ? event.lastPublication ?? event.origin : event.origin)
        if let record = event.delay?.record {
            situation.retryStanding = try standings(of: [record.place])[record.place]
        }
        let isWaiting = event.delay.map { situation.retryStanding?.hasPassed($0.record.offset) != true } ?? false
        if !isWaiting, !event.open.isEmpty, !event.isMalformed {
            situation.lostRetries = try lostRetries(of: event, reach, admin)
        }
        if let campaign = event.campaign {
            situation.campaign = try control(ofCampaign: campaign, reach: reach, admin: admin)
        }
        if !event.open.isEmpty {
            let addresses: [String]
            (situation.workers, addresses) = workers(consuming: event.waitingRecord, admin)
            if event.mayBeInMemory(now: known.now), let query = WaitingQuery(origin: event.origin) {
                situation.waiting = waiting(query, of: [event.origin], at: addresses)[event.origin] ?? .init()
            }
        }
        return Explanation(of: event, situation)
    }

    /// The partitions of retry topics that an event's record may lie in and that have lost some.
    private func lostRetries(
        of event: EventTimeline, _ reach: ClusterReach, _ admin: Admin
    ) throws -> [TopicPartition] {
        let places = try retryPlaces(of: [event], reach, admin)[event.origin] ?? []
        return Self.lost(places, try standings(of: places))
    }

    private static func lost(
        _ places: [TopicPartition], _ standings: [TopicPartition: Explanation.Standing]
    ) -> [TopicPartition] {
        places.filter { standings[$0]?.hasLost == true }.sorted { "\($0)" < "\($1)" }
    }

    /// The partitions of retry topics that the events' records may lie in.
    private func retryPlaces(
        of events: [EventTimeline], _ reach: ClusterReach, _ admin: Admin
    ) throws -> [Origin: [TopicPartition]] {
        // The embedded broker deletes nothing, and is not asked.
        guard !events.isEmpty, !admin.isOfEmbeddedBroker(timeout: .zero) else { return [:] }
        let known = try reach.topics(delays.map { topics.retryTopic($0) }, admin).topics.filter { $0.error == nil }
        return Dictionary(
            uniqueKeysWithValues: events.map { event in
                var query = TimelineQuery(user: event.user)
                query.readsAllPartitions = event.fault?.isOfKey == true
                let places = known.flatMap { topic in
                    Self.partitions(topic.partitions.map(\.id), query).map {
                        TopicPartition(topic: topic.name, partition: $0)
                    }
                }
                return (event.origin, places)
            })
    }

    /// How events of a search were lost that no worker has in memory, by their request records.
    package func losses(
        in found: Found, _ waiting: [Origin: Explanation.Waiting], reach: ClusterReach, admin: Admin
    ) throws -> [Origin: EventLoss] {
        let open = found.timelines.filter {
            !$0.open.isEmpty && !$0.isMalformed && waiting[$0.origin]?.event == nil
        }
        let retries = try retryPlaces(of: open, reach, admin)
        guard !retries.isEmpty else { return [:] }
        let delayed = open.compactMap(\.delay?.record.place)
        let standings = try standings(of: Array(Set(retries.values.joined() + delayed)))
        let committed = try ToolFailure.reading(topics.requests[0]) { () throws(KafkaError) in
            try self.committed(Set(open.map(\.origin.place)))
        }
        return open.reduce(into: [:]) { losses, event in
            losses[event.origin] = EventLoss(
                of: event, standing: event.delay.flatMap { standings[$0.record.place] },
                lost: Self.lost(retries[event.origin] ?? [], standings), committed: committed[event.origin.place])
        }
    }

    /// Where the group stands in these partitions, and where they begin.
    private func standings(of places: [TopicPartition]) throws -> [TopicPartition: Explanation.Standing] {
        guard !places.isEmpty else { return [:] }
        return try ToolFailure.reading(places[0].topic) { () throws(KafkaError) in
            let committed = try committed(Set(places))
            let reader = try Consumer(properties: readerProperties)
            defer { reader.close() }
            var standings: [TopicPartition: Explanation.Standing] = [:]
            for place in places {
                let begin = try reader.queries.watermarks(of: place, timeout: Self.questionTimeout).low
                standings[place] = .init(committed: committed[place].flatMap { $0 < 0 ? nil : $0 }, begin: begin)
            }
            return standings
        }
    }

    /// The workers that could call it, and the admin ports of those that may have it in memory.
    private func workers(
        consuming record: Origin, _ admin: Admin
    ) -> (Explanation.Workers, addresses: [String]) {
        let known: GroupDescription
        do throws(KafkaError) {
            known = try admin.describeGroup(group.name, timeout: Self.questionTimeout)
        } catch {
            return (.unknown(error.words), [])
        }
        guard !known.members.isEmpty else { return (.found([WorkerSurvey.noWorker(in: group.name)]), []) }
        let place = record.place
        guard let member = known.members.first(where: { $0.partitions.contains(place) }) else {
            let members = known.members.count
            return (
                .found([
                    Finding(
                        .noMember,
                        "the group \(group.name) has \(members) member\(members == 1 ? "" : "s"), and none of them consumes "
                            + "\(place)", place: [place.description])
                ]), []
            )
        }
        let addresses = WorkerSurvey.addresses(of: [member], named: group.named, listen: group.listen)
        let statuses = WorkerSurvey.ask(addresses, group: group.name).compactMap { worker in
            worker.status.map { (worker.address, $0) }
        }
        if let (address, status) = statuses.first(where: { !$1.isReady }) {
            var reasons = status.reasons
            reasons[0].what = "the worker at \(address) says that it does not deliver: \(reasons[0].what)"
            return (.found(reasons), addresses)
        }
        if let (address, status) = statuses.last {
            return (.delivering(address: address, warnings: status.warnings), addresses)
        }
        let silent = Finding(
            .silentWorker,
            "a worker on \(member.host.drop { $0 == "/" }) consumes \(place); whether it delivers is not known, because none "
                + "is heard at its admin port (admin.listen) from here")
        return (.found([silent]), addresses)
    }

    /// Why nothing is found of what was asked for, as far as its topics tell, in sentences.
    package func absence(_ query: TimelineQuery, _ found: Found, reach: ClusterReach, admin: Admin) throws -> String {
        if let origin = query.origin, let sentence = try absence(of: origin, reach, admin) { return sentence }
        var sentences = ["no record is about it in what was read."] + (try forgotten(query, reach, admin))
        if found.tombstoneCount > 0 {
            sentences.append(
                found.tombstoneCount == 1
                    ? "1 record of this user has no value: it is no event, and notifies nobody."
                    : "\(found.tombstoneCount) records of this user have no value: they are no events, and notify nobody."
            )
        }
        sentences.append(
            found.gaps.isEmpty
                ? "It was never published to these topics, or they have forgotten it."
                : "Not read: \(found.gaps.joined(separator: "; ")).")
        return sentences.joined(separator: " ")
    }

    /// What the request topics do not have any more, where an event of this query could have been, in sentences.
    private func forgotten(_ query: TimelineQuery, _ reach: ClusterReach, _ admin: Admin) throws -> [String] {
        guard !admin.isOfEmbeddedBroker(timeout: .zero) else { return [] }
        let places = try reach.topics(topics.requests, admin).topics.filter { $0.error == nil }.flatMap { topic in
            Self.partitions(topic.partitions.map(\.id), query).map { TopicPartition(topic: topic.name, partition: $0) }
        }
        let standings = try standings(of: places)
        let lost = Self.lost(places, standings)
        let deleted = places.filter { standings[$0].map { $0.begin > 0 && !$0.hasLost } ?? false }
        var sentences: [String] = []
        if !lost.isEmpty {
            sentences.append(
                "Records of \(lost.names) were deleted before they were read: if it was one of them, it is lost, and nobody was "
                    + "notified (herald account counts what is lost).")
        }
        if !deleted.isEmpty {
            sentences.append("Older records of \(deleted.names) are deleted, by retention or by hand.")
        }
        return sentences
    }

    /// What is at a place of a request topic where no event of that name is; `nil` when nothing explains that.
    private func absence(of origin: Origin, _ reach: ClusterReach, _ admin: Admin) throws -> String? {
        guard topics.requests.contains(origin.topic) else {
            return "\(origin.topic) is none of the request topics (topics.requests)."
        }
        let partitions = try reach.topics([origin.topic], admin).topics.first?.partitions ?? []
        guard partitions.contains(where: { $0.id == origin.partition }) else {
            return "\(origin.topic) has no partition \(origin.partition)."
        }
        switch try record(at: origin) {
        case .deleted(let begin):
            let deleted = "it is not there any more: what was before offset \(begin) is deleted"
            guard let committed = try committedOffset(of: origin), committed <= origin.offset else {
                return
                    "\(deleted), by the topic's retention or by hand. The group has passed it before, or it was skipped as "
                    + "lost (herald offsets skip-lost; the audit tells)."
            }
            return
                "\(deleted), and the group had come to \(committed): it was deleted before it was read. It is lost, and "
                + "nobody was notified; publish it again if it is still to be sent."
        case .held(let open): return "it cannot be read yet: \(open.words); \(open.remedy(now: SystemClock.wall()))."
        case .missing(let end): return "nothing is there yet: the partition ends at offset \(end)."
        case .removed:
            return "there is no record at that offset: it was compacted away, or marks the end of a transaction."
        case .found(nil, _): return "that record has no value (a tombstone): it is no event, and notifies nobody."
        case .found: return nil
        }
    }

    /// The text of one field of the event in a request record; `nil` when it does not have it.
    private func text(
        _ field: KeyPath<DecodedEvent, ByteField>, of origin: Origin, _ value: [UInt8], _ headers: HeaderList
    ) -> String? {
        let event = event(of: origin, value, headers)
        let field = event[keyPath: field]
        return field.isPresent ? event.bytes(of: field, value: value.span.bytes).text : nil
    }

    private func event(of origin: Origin, _ value: [UInt8], _ headers: HeaderList) -> DecodedEvent {
        var event = DecodedEvent()
        _ = decoder.decode(
            topicKind: .request, topic: origin.topic, partition: origin.partition, offset: origin.offset,
            value: value.span.bytes, headers: headers, into: &event)
        return event
    }

    /// What is at a place of a topic.
    private enum Record {
        /// The partition begins behind it.
        case deleted(begin: Int64)
        /// The partition ends before it.
        case missing(end: Int64)
        /// It lies behind a transaction.
        case held(OpenTransaction)
        case removed
        case found(value: [UInt8]?, headers: HeaderList)
    }

    private func record(at origin: Origin) throws -> Record {
        let place = origin.place
        let reader = try ToolFailure.reading(origin.topic) { () throws(KafkaError) in
            try TopicReader(properties: readerProperties)
        }
        defer { reader.close() }
        let (begin, end) = try ToolFailure.reading(origin.topic) { () throws(KafkaError) in
            let queries = reader.consumer.queries
            let marks = try queries.watermarks(of: place, timeout: Self.questionTimeout)
            let ends = try queries.ends(of: [place], timeout: Self.questionTimeout)
            return (marks.low, ends[place] ?? marks.high)
        }
        guard origin.offset >= begin else { return .deleted(begin: begin) }
        guard origin.offset < end else {
            let open = try? openTransactions(in: [place], patience: .zero).first
            return open.map { origin.offset < $0.end ? .held($0) : .missing(end: $0.end) } ?? .missing(end: end)
        }
        try ToolFailure.reading(origin.topic) { () throws(KafkaError) in
            try reader.begin([place: .offset(origin.offset)])
        }
        var record = Record.removed
        try reader.catchUp(to: .offsets([place: origin.offset + 1])) { message in
            guard message.offset == origin.offset else { return }
            var headers = HeaderList()
            message.forEachHeader { headers.append(name: $0, value: $1) }
            record = .found(value: message.valueCopy, headers: headers)
        }
        return record
    }

    /// Up to where the group has consumed the partition of the request; `nil` when it has committed nothing there.
    package func committedOffset(of origin: Origin) throws -> Int64? {
        let found = try ToolFailure.reading(origin.topic) { () throws(KafkaError) in try committed([origin.place]) }
        return found[origin.place].flatMap { $0 < 0 ? nil : $0 }
    }

    /// The group's offsets in these partitions, negative where it has none.
    func committed(_ places: Set<TopicPartition>) throws(KafkaError) -> [TopicPartition: Int64] {
        let reader = try Consumer(properties: readerProperties)
        defer { reader.close() }
        let committed = try readerProperties.outwaiting(within: Self.questionTimeout.duration) {
            () throws(KafkaError) in
            try reader.queries.committed(Array(places), timeout: Self.questionTimeout)
        }
        return Dictionary(committed.map { ($0.partition, $0.offset) }) { $1 }
    }

    /// What the campaign is to do; `nil` without a control record, or without the topic.
    package func control(ofCampaign name: String, reach: ClusterReach, admin: Admin) throws -> CampaignControl? {
        guard let topic = try reach.topics([topics.campaigns], admin).topics.first, topic.error == nil else {
            return nil
        }
        let reader = try TopicReader(
            properties: readerProperties, topic: topics.campaigns, partitions: topic.partitions.map(\.id))
        defer { reader.close() }
        var states = CampaignStates()
        try reader.catchUp { message in
            guard let key = message.keyCopy else { return }
            // What is no control record counts as not there.
            message.withValue { value in try? states.record(key: key.span.bytes, value: value) }
        }
        return states.control(of: name)
    }

    /// The message of the event that this request record is, and what stands beside it; `nil` when its topic has forgotten
    /// it, or it does not decode.
    package func content(of origin: Origin) throws -> (message: String, beside: EventContent)? {
        guard case .found(let value?, let headers) = try record(at: origin) else { return nil }
        let event = event(of: origin, value, headers)
        guard event.message.isPresent else { return nil }
        return (event.bytes(of: event.message, value: value.span.bytes).text, event.content(in: value.span.bytes))
    }
}

extension Origin {
    /// The partition that it lies in.
    var place: TopicPartition { TopicPartition(topic: topic, partition: partition) }
}
