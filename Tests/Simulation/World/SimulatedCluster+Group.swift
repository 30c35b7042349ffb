/// The group: the members' generations, eager rebalances, and permissions to commit.
extension SimulatedCluster {
    /// The result of joining.
    enum Joined {
        /// These members have to give their partitions back.
        case rebalance(telling: [Int])
        /// A static member has returned and keeps its partitions.
        case kept([Place])
    }

    /// Adds a member; with an instance it replaces the member of that instance, which is fenced.
    mutating func join(_ member: Int, instance: Int?) -> Joined {
        if let instance, let former = members.first(where: { $0.value.instance == instance }) {
            members[former.key] = nil
            if !isRebalancing, !former.value.isWaiting {
                members[member] = former.value
                return .kept(former.value.assignment)
            }
        }
        members[member] = Member(instance: instance)
        return .rebalance(telling: startRebalance())
    }

    /// Removes a member that left or whose session ended; returns the members that have to give their partitions back.
    mutating func remove(_ member: Int) -> [Int] {
        guard members.removeValue(forKey: member) != nil else { return [] }
        return startRebalance()
    }

    mutating func startRebalance() -> [Int] {
        isRebalancing = true
        var told: [Int] = []
        for (name, member) in members.sorted(by: { $0.key < $1.key }) where !member.isWaiting && !member.isRevoking {
            members[name]?.isRevoking = true
            told.append(name)
        }
        return told
    }

    /// Notes that a member has given its partitions back.
    mutating func unassigned(_ member: Int) {
        members[member]?.isRevoking = false
        members[member]?.isWaiting = true
        members[member]?.assignment = []
    }

    /// Ends the rebalance when every member waits for its partitions; returns the new assignments.
    mutating func finishRebalance() -> [(member: Int, places: [Place])] {
        guard isRebalancing, !members.isEmpty, members.values.allSatisfy(\.isWaiting) else { return [] }
        isRebalancing = false
        generation += 1
        let names = members.keys.sorted()
        var shares: [Int: [Place]] = [:]
        // Like the range assignor: each topic's partitions in a row, so that some members may get none.
        let share = (partitions + names.count - 1) / names.count
        for place in consumed { shares[names[place.partition / share], default: []].append(place) }
        return names.map { name in
            members[name]?.generation = generation
            members[name]?.isWaiting = false
            members[name]?.assignment = shares[name] ?? []
            return (name, shares[name] ?? [])
        }
    }

    /// Whether a commit of this member and generation is accepted: the broker does not check who owns a partition.
    func accepts(member: Int, generation: Int) -> Bool {
        members[member]?.generation == generation && members[member]?.isWaiting == false
    }

    /// Whether the member has this generation's partitions and was not asked for them back.
    func isMember(_ member: Int, of generation: Int) -> Bool {
        accepts(member: member, generation: generation) && members[member]?.isRevoking == false
    }

    /// Whether the member has this partition.
    func owns(_ member: Int, _ place: Place) -> Bool {
        members[member]?.assignment.contains { areNamesakes($0, place) } == true
    }

    /// Whether the committed offsets of these partitions are undecided: transactions with their offsets are open.
    func hasPendingOffsets(_ places: [Place]) -> Bool { places.contains { self[$0].pendingOffsets > 0 } }

    /// Commits the position in the partition that has the name now, whichever its member has meant.
    mutating func commit(_ position: Position) {
        let place = current(position.place)
        self[place].committed = position.offset
        self[place].metadata = position.metadata
        let (reach, log) = (reach(of: position), self[place])
        // A member that was told of a cut commits once more, at its offset or behind it.
        let isOffsetThere = position.offset <= log.end
        let known = reach <= log.end ? .max : isOffsetThere ? log.end : min(log.known, log.end)
        self[place].known = min(common(position.place), known)
        self[place].isCommitOutdated = reach > self[place].known
    }
}
