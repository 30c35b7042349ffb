import HeraldCore

/// Another program uses the workers' group: it takes partitions, commits offsets of its own, and leaves.
extension Simulation {
    /// It is no process of this world.
    static let stranger = Process(.worker, 999)

    func strangerJoins() {
        guard cluster.members[Self.stranger.member] == nil, cluster.awayUntil <= now else { return }
        guard case .rebalance(let told) = cluster.join(Self.stranger.member, instance: nil) else { return }
        log("another program joins the group")
        rebalance(telling: told)
    }

    /// It has these partitions for a while, and consumes them; `nil`: it has to give its partitions back.
    func strangerHears(of places: [Place]?) {
        guard let places else {
            cluster.unassigned(Self.stranger.member)
            return
        }
        log("another program has \(places.map(cluster.name))")
        schedule(.strangerCommits(generation: cluster.generation), after: chance[.stranger].between(0, 10_000))
    }

    /// Works like auto-commit: it commits the offset of its position, and nothing else.
    func strangerCommits(generation: Int) {
        guard cluster.isMember(Self.stranger.member, of: generation) else { return strangerLeaves() }
        let places = cluster.members[Self.stranger.member]?.assignment.map(cluster.current) ?? []
        guard !cluster.hasPendingOffsets(places) else {
            schedule(.strangerCommits(generation: generation), after: 100)
            return
        }
        for place in places {
            let (stood, end) = (cluster[place].standing, cluster[place].lastStable)
            var offset = chance[.stranger].pick([stood, chance[.stranger].between(stood, end), end])
            // It can't read an unreadable batch either: it stands in front of it, or behind it.
            if case .batch(let offsets, _)? = cluster.damage(place, at: offset)?.damage, offsets.contains(offset) {
                offset = max(stood, offsets.lowerBound)
            }
            log("another program commits \(offset) of \(cluster.name(place)), where the group stood at \(stood)")
            let known = map(cluster[place].metadata, cluster[place].committed ?? 0, place)?.done ?? []
            cluster.commit(Position(place: place, offset: offset, metadata: ""))
            cluster[place].foreignOffsets.insert(offset)
            checkers.passedUnknown(place, stood..<offset, records: cluster[place].records)
            // Completions beyond its offset are unknown from now on.
            let beyond = known.flatMap { $0.clamped(to: offset..<max(offset, end)) }
            checkers.forgotten(beyond.flatMap { cluster[place].records[Int($0)].duties })
        }
        strangerLeaves()
    }

    private func strangerLeaves() {
        guard cluster.members[Self.stranger.member] != nil else { return }
        log("another program leaves the group")
        rebalance(telling: cluster.remove(Self.stranger.member))
    }
}
