package import HeraldEvents
package import HeraldKafka
package import HeraldTime
internal import HeraldTools

/// What the workers that may have events in memory say that these wait for.
extension TimelineSearch {
    /// What the events of a search wait for, by their request records; asks the group and its workers.
    ///
    /// - Throws: why the group does not say which workers have which partitions.
    package func waiting(
        _ found: Found, _ query: TimelineQuery, now: WallTime, admin: Admin
    ) throws -> [Origin: Explanation.Waiting] {
        let events = found.timelines.filter { !$0.open.isEmpty && !$0.isMalformed && $0.mayBeInMemory(now: now) }
        let asked =
            query.origin.map { WaitingQuery(origin: $0) } ?? WaitingQuery(user: query.user, id: query.id)
        guard !events.isEmpty, let asked else { return [:] }
        let known: GroupDescription
        do throws(KafkaError) {
            known = try admin.describeGroup(group.name, timeout: Self.questionTimeout)
        } catch {
            throw ToolFailure("the group \(group.name) does not say which workers there are", error)
        }
        let places = Set(
            events.map { TopicPartition(topic: $0.waitingRecord.topic, partition: $0.waitingRecord.partition) })
        // Where the brokers do not say it, nothing is missing.
        let without = (try? withoutOffsets(among: places)) ?? []
        let members = known.members.filter { !places.isDisjoint(with: $0.partitions) }
        let addresses = WorkerSurvey.addresses(of: members, named: group.named, listen: group.listen)
        var waiting = waiting(asked, of: events.map(\.origin), at: addresses)
        for event in events {
            let place = TopicPartition(topic: event.waitingRecord.topic, partition: event.waitingRecord.partition)
            guard without.contains(place) else { continue }
            waiting[event.origin]?.withoutOffset = .init(group: group.name, partition: place)
        }
        return waiting
    }

    /// Those of these partitions for which the group has no offset.
    private func withoutOffsets(among places: Set<TopicPartition>) throws(KafkaError) -> Set<TopicPartition> {
        let reader = try Consumer(properties: readerProperties)
        defer { reader.close() }
        let committed = try reader.queries.committed(Array(places), timeout: Self.questionTimeout)
        return Set(committed.filter { $0.offset < 0 }.map(\.partition))
    }

    /// Asks each of these workers once.
    func waiting(
        _ query: WaitingQuery, of origins: [Origin], at addresses: [String]
    ) -> [Origin: Explanation.Waiting] {
        var all = Dictionary(uniqueKeysWithValues: origins.map { ($0, Explanation.Waiting()) })
        func note(_ answer: Result<WaitingPage, WorkerSurvey.Silence>, at address: String) {
            for origin in origins { all[origin]?.note(answer, of: origin, at: address) }
        }
        let token: String?
        do {
            token = try group.token?()
        } catch {
            for address in addresses {
                note(.failure(.init(reason: "admin.token can't be read: \(error)")), at: address)
            }
            return all
        }
        for address in addresses.prefix(WorkerSurvey.limit) {
            let isTrusted = group.named != nil || WorkerSurvey.isOwn(address)
            note(WorkerSurvey.waiting(query, at: address, token: isTrusted ? token : nil), at: address)
        }
        for address in addresses.dropFirst(WorkerSurvey.limit) {
            note(.failure(.init(reason: "only \(WorkerSurvey.limit) are asked")), at: address)
        }
        return all
    }
}

extension EventTimeline {
    /// Whether a worker may have it in memory: in a delay topic its record says what it waits for, until that moment.
    func mayBeInMemory(now: WallTime) -> Bool { delay?.until.map { $0 <= now } ?? true }
}
