internal import FoundationEssentials
internal import HeraldBytes
package import HeraldEvents
package import HeraldKafka
internal import HeraldText
import HeraldTime
package import HeraldTools

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
            of: situation.isForeign ? event.lastPublication ?? event.origin : event.origin, in: found)
        if let record = event.delay?.record {
            situation.retryStanding = try standings(of: [record.place], in: found)[record.place]
        }
        let isWaiting = event.delay.map { situation.retryStanding?.hasPassed($0.record.offset) != true } ?? false
        if !isWaiting, !event.open.isEmpty, !event.isMalformed {
            situation.lostRetries = try lostRetries(of: event, reach, admin)
        }
        let lost =
            situation.lostRetries.filter { $0.skip == nil }.map(\.partition)
            + (situation.retryStanding?.hasLost == true ? [event.delay?.record.place].compactMap { $0 } : [])
        situation.undecided = group.lossReport(on: lost, admin).undecided
        if let campaign = event.campaign {
            situation.campaign = try control(ofCampaign: campaign, reach: reach, admin: admin)
        }
        do {
            if event.dependsOnWords, let words = try standing(about: [event], reach: reach, admin: admin) {
                situation.said = event.said(by: words)
                situation.newWord = event.newWord(by: words)
                situation.wordFault = event.wordFault(by: words)
            }
        } catch {
            situation.gaps.append("what users and recalls say of it now (\(error))")
        }
        if !event.open.isEmpty {
            let mayBeLost = !lost.isEmpty || !situation.lostRetries.isEmpty
            let asked = workers(consuming: event.waitingRecord, besides: situation.lostRetries.map(\.partition), admin)
            if mayBeLost || event.mayBeInMemory(now: known.now), let query = WaitingQuery(origin: event.origin) {
                situation.waiting = waiting(query, of: [event.origin], at: asked.addresses)[event.origin] ?? .init()
            }
            // The one that has the event knows what it waits for.
            situation.workers = asked.workers(at: situation.waiting.worker)
        }
        return Explanation(of: event, situation)
    }

    /// What was deleted unread of the partitions of retry topics that an event's record may lie in.
    private func lostRetries(
        of event: EventTimeline, _ reach: ClusterReach, _ admin: Admin
    ) throws -> [LostSpan] {
        let places = try retryPlaces(of: [event], reach, admin)[event.origin] ?? []
        return Self.lost(event, places, try lostSpans(in: places, reach, admin))
    }

    /// What may have held a retry of this event.
    private static func lost(_ event: EventTimeline, _ places: [TopicPartition], _ spans: [LostSpan]) -> [LostSpan] {
        let known = event.steps.first?.at
        return spans.filter { span in places.contains(span.partition) && known.map(span.mayHold) ?? true }
    }

    /// The records of these partitions that were deleted before they were read: those for which the partitions wait, and those
    /// that were skipped, as far as the audit topic can be read.
    private func lostSpans(
        in places: [TopicPartition], _ reach: ClusterReach, _ admin: Admin
    ) throws -> [LostSpan] {
        // The embedded broker deletes nothing, and is not asked.
        guard !places.isEmpty, !admin.isOfEmbeddedBroker(timeout: .zero) else { return [] }
        var spans = try ToolFailure.reading(places[0].topic) { () throws(KafkaError) in
            let consumer = try Consumer(properties: readerProperties + [("isolation.level", "read_uncommitted")])
            defer { consumer.close() }
            return try readerProperties.outwaiting(within: Self.questionTimeout.duration) { () throws(KafkaError) in
                try GroupSurvey(consumer.queries, admin: admin) { Self.questionTimeout }.lostSpans(of: places)
            }
        }
        if !spans.isEmpty {
            let reader = try ToolFailure.reading(places[0].topic) { () throws(KafkaError) in
                try TopicReader(properties: readerProperties)
            }
            defer { reader.close() }
            let firsts = try? reader.consumer.recordsAhead(
                of: spans.map { ($0.partition, offset: $0.offsets.upperBound) }, within: .seconds(5),
                countsFromOrigin: false)
            for index in spans.indices {
                if case .published(let moment) = firsts?[spans[index].partition]?.first { spans[index].until = moment }
            }
        }
        let skipped = (try? skippedSpans(reach, admin)) ?? []
        return (skipped.filter { places.contains($0.partition) } + spans).sorted {
            ("\($0.partition)", $0.offsets.lowerBound) < ("\($1.partition)", $1.offsets.lowerBound)
        }
    }

    private func skippedSpans(_ reach: ClusterReach, _ admin: Admin) throws -> [LostSpan] {
        guard let topic = try reach.topics([topics.audit], admin).topics.first, topic.error == nil else { return [] }
        let reader = try TopicReader(
            properties: readerProperties, topic: topics.audit, partitions: topic.partitions.map(\.id))
        defer { reader.close() }
        var spans: [LostSpan] = []
        try reader.catchUp { message in
            let entry = message.valueCopy.flatMap { try? JSONDecoder().decode(AuditEntry.self, from: Data($0)) }
            spans += entry?.skippedSpans(ofGroup: group.name) ?? []
        }
        return spans
    }

    /// The partitions of retry topics that the events' records may lie in.
    func retryPlaces(
        of events: [EventTimeline], _ reach: ClusterReach, _ admin: Admin
    ) throws -> [Origin: [TopicPartition]] {
        // The embedded broker deletes nothing, and is not asked.
        guard !events.isEmpty, !admin.isOfEmbeddedBroker(timeout: .zero) else { return [:] }
        let known = try reach.allTopics(admin).topics.filter {
            $0.error == nil && topics.delay(ofTopic: $0.name) != nil
        }
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

    /// How events of a search were lost, by their request records.
    package func losses(
        in found: Found, _ waiting: [Origin: Explanation.Waiting], reach: ClusterReach, admin: Admin
    ) throws -> [Origin: EventLoss] {
        let open = found.timelines.filter { !$0.open.isEmpty && !$0.isMalformed }
        let retries = try retryPlaces(of: open, reach, admin)
        guard !retries.isEmpty else { return [:] }
        let standings = try standings(of: Array(Set(open.compactMap(\.delay?.record.place))), in: found)
        let spans = try lostSpans(in: Array(Set(retries.values.joined())), reach, admin)
        let committed = try ToolFailure.reading(topics.requests[0]) { () throws(KafkaError) in
            try self.committed(Set(open.map(\.origin.place)), in: found)
        }
        let lost = spans.filter { $0.skip == nil }.map(\.partition) + standings.filter(\.value.hasLost).map(\.key)
        let undecided = group.lossReport(on: Array(Set(lost)), admin).undecided
        return open.reduce(into: [:]) { losses, event in
            losses[event.origin] = EventLoss(
                of: event, standing: event.delay.flatMap { standings[$0.record.place] },
                lost: Self.lost(event, retries[event.origin] ?? [], spans), committed: committed[event.origin.place],
                undecided: undecided, waiting: waiting[event.origin] ?? .init())
        }
    }

    /// Where the group stands in these partitions, and where they begin.
    private func standings(
        of places: [TopicPartition], in found: Found = Found(timelines: [])
    ) throws -> [TopicPartition: Explanation.Standing] {
        guard !places.isEmpty else { return [:] }
        return try ToolFailure.reading(places[0].topic) { () throws(KafkaError) in
            let committed = try committed(Set(places), in: found)
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

    /// The workers that could call an event.
    private struct AskedWorkers {
        /// The admin ports of those that may have it in memory.
        var addresses: [String] = []
        /// What those that answered say of themselves.
        var statuses: [(address: String, status: WorkerStatus)] = []
        /// What is known where none answered.
        var otherwise: Explanation.Workers

        /// What is known of them.
        ///
        /// - Parameter owner: the one that has the event in memory.
        func workers(at owner: String?) -> Explanation.Workers {
            let own = statuses.filter { $0.address == owner }
            let asked = own.isEmpty ? statuses : own
            if let (address, status) = asked.first(where: { !$0.status.isReady }) {
                var reasons = status.reasons
                reasons[0].what =
                    "the worker at \(address) says that it does not deliver\(status.delivers ? " all of it" : ""): \(reasons[0].what)"
                return .found(reasons)
            }
            return asked.last.map { .delivering(address: $0.address, warnings: $0.status.warnings) } ?? otherwise
        }
    }

    /// - Parameter others: further partitions whose consumers may have it in memory.
    private func workers(
        consuming record: Origin, besides others: [TopicPartition], _ admin: Admin
    ) -> AskedWorkers {
        let known: GroupDescription
        do throws(KafkaError) {
            known = try admin.describeGroup(group.name, timeout: Self.questionTimeout)
        } catch {
            return AskedWorkers(otherwise: .unknown(error.words))
        }
        guard !known.members.isEmpty else {
            return AskedWorkers(otherwise: .found([WorkerSurvey.noWorker(in: group.name)]))
        }
        let place = record.place
        guard let member = known.members.first(where: { $0.partitions.contains(place) }) else {
            let members = known.members.count
            return AskedWorkers(
                otherwise: .found([
                    Finding(
                        .noMember,
                        "the group \(group.name) has \(members) member\(members == 1 ? "" : "s"), and none of them consumes "
                            + "\(place)", place: [place.description])
                ]))
        }
        let members = [member] + known.members.filter { $0 != member && !Set(others).isDisjoint(with: $0.partitions) }
        let addresses = WorkerSurvey.addresses(of: members, named: group.named, listen: group.listen)
        let statuses = WorkerSurvey.ask(addresses, group: group.name).compactMap { worker in
            worker.status.map { (worker.address, $0) }
        }
        let silent = Finding(
            .silentWorker,
            "a worker on \(member.host.drop { $0 == "/" }) consumes \(place); whether it delivers is not known, because none "
                + "is heard at its admin port (admin.listen) from here")
        return AskedWorkers(addresses: addresses, statuses: statuses, otherwise: .found([silent]))
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

    /// The partitions of request topics in which an event of this query could have been.
    private func requestPlaces(_ query: TimelineQuery, _ reach: ClusterReach, _ admin: Admin) throws -> [TopicPartition]
    {
        try reach.topics(topics.requests, admin).topics.filter { $0.error == nil }.flatMap { topic in
            Self.partitions(topic.partitions.map(\.id), query).map { TopicPartition(topic: topic.name, partition: $0) }
        }
    }

    /// The requests of this query's partitions that were deleted before they were read, and what to do if one of its events was
    /// among them, in a sentence; `nil` when there are none.
    package func lostRequests(_ query: TimelineQuery, reach: ClusterReach, admin: Admin) throws -> String? {
        let spans = try lostSpans(in: try requestPlaces(query, reach, admin), reach, admin)
        return Self.sentence(ofLost: spans.filter { span in query.since.map(span.mayHold) ?? true })
    }

    /// So many spans are told one by one.
    private static let toldSpans = 5

    static func sentence(ofLost spans: [LostSpan]) -> String? {
        guard !spans.isEmpty else { return nil }
        let told = spans.suffix(toldSpans).map { $0.words() }.joined(separator: "; ")
        let more = spans.count > toldSpans ? "; and \(spans.count - toldSpans) times before" : ""
        let step = spans.contains { $0.skip == nil } ? " Before that, see herald offsets skip-lost --dry-run." : ""
        return told.prefix(1).uppercased() + told.dropFirst() + more
            + ". An event that was among them is lost, and nobody was notified: publish it again if it is still to be sent."
            + step
    }

    /// What the request topics do not have any more, where an event of this query could have been, in sentences.
    private func forgotten(_ query: TimelineQuery, _ reach: ClusterReach, _ admin: Admin) throws -> [String] {
        guard !admin.isOfEmbeddedBroker(timeout: .zero) else { return [] }
        var sentences = [try lostRequests(query, reach: reach, admin: admin)].compactMap(\.self)
        let standings = try standings(of: try requestPlaces(query, reach, admin))
        let deleted = standings.filter { $1.begin > 0 && !$1.hasLost }.map(\.key).sorted { "\($0)" < "\($1)" }
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
                let lost = try lostSpans(in: [origin.place], reach, admin).first { $0.offsets.contains(origin.offset) }
                if let lost {
                    return
                        "\(deleted). \(lost.words()): it is lost, and nobody was notified; publish it again if it is still to be "
                        + "sent."
                }
                return
                    "\(deleted), by the topic's retention or by hand. The group has passed it before, and the audit topic "
                    + "does not say that it was skipped as lost."
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
    package func committedOffset(of origin: Origin, in found: Found = Found(timelines: [])) throws -> Int64? {
        let offsets = try ToolFailure.reading(origin.topic) { () throws(KafkaError) in
            try committed([origin.place], in: found)
        }
        return offsets[origin.place].flatMap { $0 < 0 ? nil : $0 }
    }

    /// The group's offsets in these partitions as of before the search, negative where it had none; asked for now when the
    /// search did not come by all of them.
    private func committed(
        _ places: Set<TopicPartition>, in found: Found
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        places.allSatisfy { found.committed[$0] != nil } ? found.committed : try committed(places)
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
