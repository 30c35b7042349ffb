package import HeraldEvents
package import HeraldKafka
internal import HeraldTime
package import HeraldTools

/// What the workers that may have events in memory say that these wait for.
extension TimelineSearch {
    /// What the events of a search wait for, by their request records; asks the group and its workers.
    ///
    /// - Throws: why the group does not say which workers have which partitions.
    package func waiting(
        _ found: Found, _ query: TimelineQuery, reach: ClusterReach, admin: Admin
    ) throws -> [Origin: Explanation.Waiting] {
        let events = found.timelines.filter { !$0.open.isEmpty && !$0.isMalformed }
        let asked =
            query.origin.map { WaitingQuery(origin: $0) } ?? WaitingQuery(user: query.user, id: query.id)
        guard !events.isEmpty, let asked else { return [:] }
        let known: GroupDescription
        do throws(KafkaError) {
            known = try admin.describeGroup(group.name, timeout: Self.questionTimeout)
        } catch {
            throw ToolFailure("the group \(group.name) does not say which workers there are", error)
        }
        let places = Set(events.map(\.waitingRecord.place))
        // Where the brokers do not say it, nothing is missing.
        let without = (try? committed(places).filter { $0.value < 0 }.map(\.key)) ?? []
        // A retry may be in memory of which no record is left.
        let all = places.union(try retryPlaces(of: events, reach, admin).values.joined())
        let members = known.members.filter { !all.isDisjoint(with: $0.partitions) }
        let addresses = WorkerSurvey.addresses(of: members, named: group.named, listen: group.listen)
        var waiting = waiting(asked, of: events.map(\.origin), at: addresses)
        for event in events {
            let place = event.waitingRecord.place
            guard without.contains(place) else { continue }
            waiting[event.origin]?.withoutOffset = .init(group: group.name, partition: place)
        }
        return waiting
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
